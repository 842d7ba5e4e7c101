/** Text of a command's output, bounded: of a very long one the beginning and the end are kept. */
export interface OutputBuffer {
  add(text: string): void;
  text(): string;
}

/** Makes a buffer that keeps at least `half` characters from the beginning and as many from the end. */
export function outputBuffer(half = 4 * 1024 * 1024): OutputBuffer {
  const head: string[] = [];
  const tail: string[] = [];
  let headSize = 0;
  let tailSize = 0;
  let dropped = 0;
  return {
    add(text) {
      if (text === '') return;
      if (headSize < half) {
        head.push(text);
        headSize += text.length;
        return;
      }
      tail.push(text);
      tailSize += text.length;
      while (tail.length > 1 && tailSize - (tail[0]?.length ?? 0) >= half) {
        const gone = tail.shift()?.length ?? 0;
        tailSize -= gone;
        dropped += gone;
      }
    },
    text() {
      const middle = dropped > 0 ? [`\n[… ${dropped} characters were not kept …]\n`] : [];
      return [...head, ...middle, ...tail].join('');
    },
  };
}
