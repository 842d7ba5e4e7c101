/** One client's connection, which sends frames that were built before and counts what comes. */
export interface Link {
  /** Sends its next frame. */
  send(): void;
  /** Bytes that were sent and not yet taken by the system. */
  readonly buffered: number;
  /** Called for each frame of the other client. */
  onMessage: () => void;
  /** Called when something came that should not. */
  onFault: (error: Error) => void;
  /** Says that everything was received, where the protocol has a word for it. */
  settle(): void;
  close(): void;
}

/** What a link is opened with. */
export interface LinkOptions {
  readonly port: number;
  readonly name: string;
  readonly bytes: number;
  /** The frames to send. */
  readonly next: () => string;
}
