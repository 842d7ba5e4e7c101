/** The words of one simple command of a shell line: no quotes, no redirections, no assignments in front. */
export type Command = readonly string[];

const HERE_DOCUMENT = /(?<!<)<<-?(?!<)[ \t]*(['"]?)(\w+)\1([^\n]*)\n(?:[\s\S]*?\n)??[ \t]*\2(?=\n|$)/g;
const PIECE = new RegExp(
  [
    /(?<blank>[ \t]+|\\\n)/,
    /(?<comment>(?<![^\s;&|()])#[^\n]*)/,
    /(?<redirection>\d*(?:&>>?|>>|>\||[<>]&|<<<|<>|[<>]))/,
    /(?<open>\$?\()/,
    /(?<close>\))/,
    /(?<tick>`)/,
    /(?<end>[;&|\n]+)/,
    /'(?<single>[^']*)'/,
    /"(?<double>(?:\\[\s\S]|[^"\\])*)"/,
    /\\(?<escaped>[\s\S])/,
    /(?<plain>[^\s'"\\`();&|<>$]+|[\s\S])/,
  ]
    .map((piece) => piece.source)
    .join('|'),
  'g',
);

/**
 * Takes a shell line apart into its simple commands, those inside `$(…)`, backticks and brackets included. Variables stay as they are
 * written (`$HOME`), what a substitution would print is unknown and stands as `$()`. Here-documents are text, not commands.
 */
export function shellCommands(line: string): Command[] {
  const commands: string[][] = [];
  const outer: Reading[] = [];
  let now = nothingRead();
  const endCommand = () => {
    endWord(now);
    commands.push(now.words);
    now = nothingRead();
  };

  for (const { groups = {} } of line.replaceAll(HERE_DOCUMENT, '$3').matchAll(PIECE)) {
    const { redirection, open, close, tick, end, single, double, escaped, plain } = groups;
    const closes = close !== undefined || (tick !== undefined && outer.at(-1)?.tick === true);
    if (closes) {
      endCommand();
      now = outer.pop() ?? now;
    } else if (open !== undefined || tick !== undefined) {
      if (open !== '(') now.word = `${now.word ?? ''}$()`;
      outer.push({ ...now, tick: tick !== undefined });
      now = nothingRead();
    } else if (end !== undefined) {
      endCommand();
    } else if (redirection !== undefined) {
      endWord(now);
      now.skipsNext = true;
    } else if (single !== undefined || double !== undefined || escaped !== undefined || plain !== undefined) {
      now.word = (now.word ?? '') + (single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain);
      for (const [, inner = '', ticked = ''] of (double ?? '').matchAll(/\$\(([^)]*)\)|`([^`]*)`/g)) {
        commands.push(...shellCommands(inner || ticked).map((command) => [...command]));
      }
    } else {
      endWord(now);
    }
  }
  while (outer.length > 0) {
    endCommand();
    now = outer.pop() ?? now;
  }
  endCommand();
  return commands.map(withoutAssignments).filter((command) => command.length > 0);
}

/** How far a command was read. */
interface Reading {
  readonly words: string[];
  word: string | undefined;
  /** The next word is the file of a redirection. */
  skipsNext: boolean;
  /** A backtick opened what is read next. */
  tick: boolean;
}

function nothingRead(): Reading {
  return { words: [], word: undefined, skipsNext: false, tick: false };
}

function endWord(reading: Reading): void {
  if (reading.word === undefined) return;
  if (!reading.skipsNext) reading.words.push(reading.word);
  reading.skipsNext = false;
  reading.word = undefined;
}

function withoutAssignments(command: Command): Command {
  const first = command.findIndex((word) => !/^\w+\+?=/.test(word));
  return first < 0 ? [] : command.slice(first);
}
