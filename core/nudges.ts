/** What the loop itself says to the model. */
export const nudges = {
  plan: 'Before you begin: write down in a few lines how you will go about it and how you will know that it is done. Change nothing yet.',
  reflect:
    'You are repeating yourself. Write down what you know by now, what has not worked and why, and what you will do differently.',
  submit:
    'You ended without a result. If your work is done, hand it in with submit-result; if not, go on with it. Text alone does not count.',
  shorten: 'Your answer was cut by the output limit. Write it again, shorter.',
  empty: 'Your reply was empty. Go on with the task: call a tool, or hand in your result.',
  repeated: (times: number) =>
    `[This is the same as before, ${times} times by now, and nothing has changed in between. Try something else.]`,
  blocked:
    'Not run: the same call was made too often and nothing has changed in between. Do something else; if you cannot go on, submit what you have and say what stopped you.',
};
