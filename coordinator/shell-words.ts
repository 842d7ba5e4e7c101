/**
 * The programs that a shell command line cannot do without, in order: the first word of each simple command, wrappers such as `env` and
 * `timeout` looked through. Left out is what the shell brings itself, what a path or a variable names, what stands beside `||`, and
 * everything from the first compound command on: there the answer would be a guess.
 */
export function neededPrograms(command: string): string[] {
  const programs = new Set<string>();
  for (const list of splitLists(readWords(command))) {
    if (list.some((word) => word.operator === '||')) continue;
    let simple: Word[] = [];
    const ends: Word[][] = [];
    for (const word of list) {
      if (word.operator === undefined) simple.push(word);
      else {
        ends.push(simple);
        simple = [];
      }
    }
    for (const words of [...ends, simple]) {
      const first = words.find((word) => !['!', '{', '}'].includes(word.text));
      if (first && compounds.has(first.text)) return [...programs];
      const program = programOf(words);
      if (program !== undefined) programs.add(program);
    }
  }
  return [...programs];
}

interface Word {
  readonly text: string;
  /** Set when it is no word: `&&`, `|`, `;` and so on. */
  readonly operator?: string;
  /** Its value is known only to the shell. */
  readonly dynamic: boolean;
}

const compounds = new Set(['if', 'for', 'while', 'until', 'case', 'select', 'function', '[[', 'coproc']);
const builtins = new Set(
  'cd echo export set unset true false : test [ source . eval exit umask ulimit pwd printf read wait trap type alias pushd popd shopt return local declare hash jobs kill let shift'.split(
    ' ',
  ),
);

/** One part of a line: a separator, a redirection with its target, a comment, or a word with its quotes. */
const part =
  /(?<gap>[ \t]+|\\\n)|(?<operator>&&|\|\||\|&|;;|[;|()\n]|&(?!>))|(?<redirect>\d*(?:<<<|<<-?|<>|>>|>\||>&|<&|[<>])|&>>?)|(?<comment>#[^\n]*)|(?<word>(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|[^\s'"\\;|&()<>])+)|[\s\S]/y;

function readWords(command: string): Word[] {
  const words: Word[] = [];
  let redirected = false;
  part.lastIndex = 0;
  for (let match = part.exec(command); match !== null && match[0] !== ''; match = part.exec(command)) {
    const { gap, operator, redirect, comment, word } = match.groups ?? {};
    if (operator !== undefined) words.push({ text: '', operator, dynamic: false });
    else if (redirect !== undefined) redirected = true;
    else if (word !== undefined) {
      if (!redirected) words.push({ text: unquote(word), dynamic: /[$`*?]/.test(word.replaceAll(/'[^']*'/g, '')) });
      redirected = false;
    } else if (gap === undefined && comment === undefined) return [];
  }
  return words;
}

function splitLists(words: readonly Word[]): Word[][] {
  const lists: Word[][] = [[]];
  for (const word of words) {
    if (word.operator !== undefined && !['&&', '||', '|', '|&'].includes(word.operator)) lists.push([]);
    else lists.at(-1)?.push(word);
  }
  return lists;
}

function unquote(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/g,
    (_all, single?: string, double?: string, escaped?: string) => {
      return single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? '';
    },
  );
}

/** Words that a wrapper takes before the command it runs. */
const wrappers: Readonly<Record<string, RegExp>> = {
  env: /^(-.*|\w+=.*)$/s,
  exec: /^-/,
  time: /^-/,
  nohup: /^-/,
  nice: /^-|^\d+$/,
  timeout: /^-|^[\d.]+[smhd]?$/,
  stdbuf: /^-/,
};

function programOf(words: readonly Word[]): string | undefined {
  let rest = words.filter((word) => !['!', '{', '}'].includes(word.text));
  for (;;) {
    rest = rest.slice(indexOr(rest, (word) => !/^\w+\+?=/.test(word.text)));
    const [first] = rest;
    if (
      first === undefined ||
      first.dynamic ||
      first.text.includes('/') ||
      builtins.has(first.text) ||
      first.text === 'command'
    )
      return undefined;
    const taken = wrappers[first.text];
    if (!taken) return first.text;
    rest = rest.slice(1);
    rest = rest.slice(indexOr(rest, (word) => !taken.test(word.text)));
  }
}

function indexOr(words: readonly Word[], test: (word: Word) => boolean): number {
  const index = words.findIndex(test);
  return index === -1 ? words.length : index;
}

/** The words of each simple command of a line or script, assignments and the words of compound commands in front left out. */
export function simpleCommands(script: string): string[][] {
  const commands: string[][] = [];
  for (const line of script.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const words = readWords(line);
    let simple: string[] = [];
    for (const word of [...words, { text: '', operator: ';' }]) {
      if (word.operator === undefined) simple.push(word.text);
      else {
        const start = simple.findIndex((text) => !/^(!|\{|if|then|else|elif|while|until|do|\w+\+?=.*)$/s.test(text));
        if (start !== -1) commands.push(simple.slice(start));
        simple = [];
      }
    }
  }
  return commands;
}
