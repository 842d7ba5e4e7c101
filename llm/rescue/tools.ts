/** JSON types of a parameter, as a schema names them; empty when the schema does not say. */
export type ParameterTypes = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const PREFIX = 'functions.';

/** The tools that a request offered. */
export class Tools {
  readonly #offered: ReadonlySet<string>;
  readonly #types: ParameterTypes;

  constructor(offered: ReadonlySet<string>, types: ParameterTypes = {}) {
    this.#offered = offered;
    this.#types = types;
  }

  get none(): boolean {
    return this.#offered.size === 0;
  }

  /** The offered tool that a name means; undefined when there is none. */
  resolve(name: string): string | undefined {
    if (this.#offered.has(name)) return name;
    const bare = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
    return bare !== undefined && this.#offered.has(bare) ? bare : undefined;
  }

  /** Whether a name may be one of an offered tool when more of it has come. */
  mayBecome(start: string): boolean {
    if (PREFIX.startsWith(start)) return true;
    const bare = start.startsWith(PREFIX) ? start.slice(PREFIX.length) : start;
    for (const name of this.#offered) if (name.startsWith(bare) || name.startsWith(start)) return true;
    return false;
  }

  /** Types of a parameter; undefined when they are not known. */
  typesOf(tool: string, parameter: string): readonly string[] | undefined {
    const tools = Object.hasOwn(this.#types, tool) ? this.#types[tool] : undefined;
    const types = tools && Object.hasOwn(tools, parameter) ? tools[parameter] : undefined;
    return types?.length ? types : undefined;
  }
}
