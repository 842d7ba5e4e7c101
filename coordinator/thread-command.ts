/** What a request can ask of a run itself instead of work. */
export type ThreadCommand = 'stop' | 'continue';

const words: Readonly<Record<ThreadCommand, readonly string[]>> = {
  stop: ['stop', 'cancel', 'abort', '停', '停止', '停下', '取消', '终止'],
  continue: ['continue', 'go on', 'resume', '继续', '接着做', '继续做'],
};

/** Words that change nothing about a command. */
const polite = /^(?:please|pls|now|just|请|麻烦|帮我|看一下|现在|立即|马上|先|你|[\s,，。!！])+/u;

/** The command a request (without its mention) consists of; undefined when it asks for anything else, even if it starts with such a word. */
export function threadCommandOf(request: string): ThreadCommand | undefined {
  const bare = request
    .trim()
    .toLowerCase()
    .replace(/^\/(?=\w)/, '')
    .replace(polite, '')
    .replace(/(?:[\s.,!，。！~]|please|now|吧|一下|了)+$/u, '');
  if (words.stop.includes(bare)) return 'stop';
  return words.continue.includes(bare) ? 'continue' : undefined;
}
