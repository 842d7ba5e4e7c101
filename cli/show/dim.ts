import colors from 'picocolors';

/** A stream that people read. */
export type Readers = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
};

/** Makes a text dim where `stream` shows that: a terminal with colours, or the output of a build. `NO_COLOR` counts. */
export function dimFor(stream: Readers): (text: string) => string {
  const shows = stream.isTTY ? (stream.hasColors?.() ?? false) : colors.isColorSupported;
  return colors.createColors(shows).dim;
}
