import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';

/** A process of ours that speaks by messages: `Order` to it, `Word` from it. */
export class Child<Order, Word> {
  readonly process: ChildProcess;
  /** Resolves with the code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  over = false;

  /** Starts a compiled file with `setup` as its argument; what it writes to stderr goes to the end of `errors`. */
  constructor(file: string, setup: unknown, errors: string, hear: (word: Word) => void = () => undefined) {
    const stderr = openSync(errors, 'a');
    this.process = spawn(process.execPath, [file, JSON.stringify(setup)], {
      stdio: ['ignore', 'ignore', stderr, 'ipc'],
      env: { PATH: process.env.PATH },
      // A Ctrl-C at the terminal is for the test, which ends its processes itself.
      detached: true,
    });
    this.process.on('message', (word) => hear(word as Word));
    // A message to a process that has just been killed is lost, and is meant to be.
    this.process.on('error', () => undefined);
    this.ended = once(this.process, 'exit').then(([code, signal]) => {
      this.over = true;
      return code ?? signal;
    });
  }

  tell(order: Order): void {
    if (!this.over && this.process.connected) this.process.send(order as object, () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.over) this.process.kill(signal);
  }

  /** Kills it, stopped or not, and waits until it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  /** Tells it to end and waits; kills it after `ms`. True when it went by itself and well. */
  async end(order: Order, ms: number): Promise<boolean> {
    this.tell(order);
    const timer = setTimeout(() => this.signal('SIGKILL'), ms);
    const how = await this.ended;
    clearTimeout(timer);
    return how === 0;
  }
}
