/** What the model gateway and its client must do. */
export const llm = {
  'R-LLM-1': 'the reader understands what OpenAI-compatible gateways really send, however the bytes are cut',
  'R-LLM-2': 'a call with unusable arguments is never completed by guess; it comes back as broken, with the reason',
  'R-LLM-3': 'a failure gets the right kind, and only failures that may pass are retryable',
  'R-LLM-4': 'a failed try is repeated with back-off and as the provider asks, within tries and time',
  'R-LLM-5': 'a stream that goes silent ends as stalled, is retried and then reported; abort works meanwhile',
  'R-LLM-6':
    'keys stay in the run process and go to their own host only; callers hold tokens that die with their attempt',
  'R-LLM-7': 'every try is in the ledger, by agent, task and model, before the end of its reply is handed on',
  'R-LLM-8': 'the budget is told at 80, 90 and 100 percent, and a spent one refuses further calls',
  'R-LLM-9': 'an error keeps its kind and its advice on the way to the agent',
  'R-LLM-10': 'thinking is handed on line by line as it arrives',
  'R-LLM-11': 'a loopback upstream learns role and step, which go on after a restart; others do not',
  'R-LLM-12': 'coding programs of others are served like the OpenAI API: streamed, plain, models',
  'R-LLM-13': 'a message of an error says what to do next',
  'R-LLM-14': 'at most the configured number of calls runs at once',
  'R-LLM-15': 'what an endpoint and model take is one object that is written down, read again and presumed from names',
  'R-LLM-16': 'a history is sent back as the provider needs it',
  'R-LLM-17': 'a refusal that names what it does not take is learned from, once, and stays learned when that helped',
  'R-LLM-18': 'a gateway without tools gets them in the prompt, and the history as text',
  'R-LLM-19': 'the cause of a run that a model ended follows from the kind of its error',
  'R-LLM-20': 'fallback models and endpoints are asked in order, and a route that failed cools down',
  'R-LLM-21':
    'requests and tokens a minute are kept within what is set or what an endpoint says, for all agents together',
  'R-LLM-22': 'proxies of the environment are used for far hosts only',
  'R-LLM-23': 'each fault of a provider ends in its class within its time, and leaves nothing open',
  'R-LLM-24': 'a signal in the middle of a stream ends it, the agents and the run within a second',
  'R-LLM-30':
    'a try costs what the price table says: cached, written and long inputs at their own price; an unknown price is said, never 0',
  'R-LLM-31':
    'prices and windows are found by exact name, else by the longest pattern, whatever vendor stands in front; a file of the user wins',
  'R-LLM-32':
    'a run has one budget of money, tokens, calls and seconds, over all agents and restarts; whichever is used up first counts',
  'R-LLM-33':
    'at 80 % of a budget a task is told once to converge, at 90 % only wrap-up tools are left, and a call of another is not run',
  'R-LLM-34':
    'calls side by side exceed a budget by no more than what was in flight, and a reply is limited to what is left',
  'R-LLM-35': 'a sub-agent spends a slice of the budget it comes from, ends with it, and what it left goes back',
  'R-LLM-36': 'agents learn the window of their model; an unknown one is taken as 128,000 tokens, and that is said',
  'R-LLM-50':
    'both corpora pass whole, cut as given and unit by unit, and the command says where a case or a file is wrong',
  'R-LLM-51':
    'what is shown and found depends on the text alone, never on where it is cut, and nothing shown is taken back',
  'R-LLM-52': 'an opener in code, in a quotation or in prose is only text',
  'R-LLM-53': 'a block is judged unit by unit: a call, dropped, or text',
  'R-LLM-54': 'a unit is complete where its format says so, and no other closer is needed',
  'R-LLM-55': 'slips in JSON are taken as far as nothing has to be guessed',
  'R-LLM-56': "a tag's text becomes the value that its parameter's type asks for",
  'R-LLM-57': 'a value ends at its own closer, whatever markers stand in it',
  'R-LLM-58': 'without markers only a whole message is a call',
  'R-LLM-59': 'control tokens are hidden where they mean something, and text elsewhere',
  'R-LLM-60': 'calls in thinking count only at its very end, and only when nothing else came',
  'R-LLM-61': 'every native format is read, with the slips that models make in it',
  'R-LLM-62': 'a reply of 1 MB is read in linear time, whatever stands in it',
  'R-LLM-63': 'calls that came as text stand beside structured ones, as calls like any other',
  'R-LLM-64': 'a call that could not be used is asked for again, twice at most; markers are never the answer',
  'R-LLM-65': 'calls that came as text are counted by model and format',
  'R-LLM-67': 'thinking comes by whole lines as it streams in; a very long line comes in pieces',
  'R-LLM-68': 'thinking is shown dim and in the log; --no-thinking and NPC_THINKING=off do not show it',
  'R-LLM-69': 'the bench compares a client with the bare SDK on the same reply of the same repetition',
  'R-LLM-70': 'a look at a model finds out what it can do, and how a client gets it to',
  'R-LLM-71': 'a reply that said it is finished counts although its stream stays open',
  'R-LLM-80': 'a replay gives the recorded replies, deltas and usage, asks nobody and needs no key',
  'R-LLM-81': 'refusals, broken and silent streams are recorded and end the same way in a replay, without the waits',
  'R-LLM-82': 'programs of others are recorded and replayed like agents of ours',
  'R-LLM-83': 'a replay says where a request differs from the recording; what differs in every run does not count',
  'R-LLM-84': 'a request is found by its place, then by what it asks; one that was not recorded is an error of its own',
  'R-LLM-85':
    'a cassette is a file of lines that a death leaves readable; what it cannot be is refused with the reason',
  'R-LLM-86': 'no secret gets into a cassette, however a stream cuts it',
  'R-LLM-87':
    'a response cache answers a request that was answered before, for nothing; only whole, good replies are kept',
} as const;
