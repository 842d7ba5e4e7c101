import colors from 'picocolors';
import type { Check, ModelCheck } from '../../llm/index.ts';
import { clip, pad } from './width.ts';

const marks: Readonly<Record<Check['verdict'], (text: string) => string>> = {
  yes: colors.green,
  partly: colors.yellow,
  no: colors.red,
  unknown: colors.dim,
};

/** What was found out about one model, as a table with a line for each thing; `columns` cuts its notes. */
export function modelCheckLines({ host, model, checks, usable }: ModelCheck, columns = Infinity): string[] {
  const rows = checks.map(({ name, verdict, note }) => {
    const head = `  ${pad(name, 10)} ${marks[verdict](pad(verdict, 8))} `;
    return `${head}${clip(note, Math.max(30, columns - 22))}`.trimEnd();
  });
  const end = usable ? colors.green('a run can work with it') : colors.red('a run cannot work with it');
  return [colors.bold(`${model} at ${host}`), ...rows, `  ${end}`];
}
