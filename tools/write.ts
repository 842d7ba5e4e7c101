import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { defineTool } from '../core/tool.ts';
import { encodeText } from './lib/encoding.ts';
import { type LoadedFile, loadFile } from './lib/load-file.ts';
import { inTurn, knowledgeOf, noteSeen } from './lib/seen-files.ts';
import { writablePath } from './lib/work-paths.ts';
import { writeAtomic } from './lib/write-atomic.ts';

export default defineTool({
  name: 'write',
  description:
    'Write a whole text file in the work tree; folders are made as needed. A file that exists must have been read ' +
    'before. To change a part of a file use edit.',
  input: z.object({
    path: z.string().describe('Path relative to the work tree'),
    content: z.string().describe('The complete text of the file'),
  }),
  async run({ path, content }, { cwd, memo }) {
    const place = await writablePath(cwd, path);
    return inTurn(memo, place.absolute, async () => {
      const old = await loadFile(place);
      if (old && old.bytes.length > 0) {
        const knowledge = knowledgeOf(memo, place.absolute, old.bytes);
        if (knowledge === 'unread') throw refuse(`${place.shown} exists and was not read; read it first, or use edit`);
        if (knowledge === 'stale') throw refuse(`${place.shown} has changed since it was read; read it again`);
      }
      const { bytes, note } = bytesFor(content, old);
      await writeAtomic(place.absolute, bytes);
      noteSeen(memo, place.absolute, bytes);
      const lines = content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
      const verb = old ? 'replaced' : 'made';
      return { ok: true, text: `${verb} ${place.shown}: ${lines} lines${note}`, filesTouched: [place.shown] };
    });
  },
});

/** The content as the file was: its encoding, its mark, its line ends where they were all CRLF. */
function bytesFor(content: string, old: LoadedFile | undefined): { bytes: Buffer; note: string } {
  const was = old?.text;
  if (!was || was.text === '') return { bytes: Buffer.from(content), note: '' };
  const notes: string[] = [];
  let text = content.replace(/^\uFEFF/, '');
  if (/\r\n/.test(was.text) && !/(?<!\r)\n/.test(was.text) && !text.includes('\r')) {
    text = text.replaceAll('\n', '\r\n');
    notes.push('CRLF kept');
  }
  if (was.encoding !== 'utf-8') {
    try {
      const bytes = encodeText(text, was.encoding, was.bom);
      return { bytes, note: `; ${[...notes, `${was.encoding} kept`].join(', ')}` };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      notes.push(`now UTF-8: ${error.message}`);
    }
  }
  return {
    bytes: encodeText(text, 'utf-8', was.bom && was.encoding === 'utf-8'),
    note: notes.length > 0 ? `; ${notes.join(', ')}` : '',
  };
}

function refuse(message: string): AppError {
  return new AppError('refused', message);
}
