/** What commander says of a wrong value, and what of it we say: the flag as it was written, and what its reader told. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/^error: option '(?:-\w, )?(--[\w-]+)(?: <[^>]+>)?' argument '(.*)' is invalid\. (.*)$/m, 'npc-crew: $1 $2: $3'],
  [/^error: command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/m, 'npc-crew: $2 $1: $3'],
  [/^error: /, 'npc-crew: '],
];

/** A complaint of commander in the form of all our others: who, where, what, and how to mend it. */
export function usageWords(text: string): string {
  const [form, words] = forms.find(([pattern]) => pattern.test(text)) ?? [/^/, ''];
  return text.replace(form, words).replace(/^(npc-crew: .*)\.$/m, '$1');
}
