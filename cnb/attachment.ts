import { AppError } from '../base/errors.ts';
import type { ThreadRef } from '../coordinator/trigger.ts';
import { apiPath, type CnbApi } from './api.ts';
import { statusOf } from './api-error.ts';
import { AssetUpload, FileUpload } from './schemas.ts';

/** A file for a comment to link to. */
export interface Attachment {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly type: string;
}

/** Statuses that say: not here, or not with this token. */
const notAllowed = new Set([403, 404, 405, 501]);

/** Uploads a file and returns its address; undefined where the platform or the token does not allow it. */
export async function uploadAttachment(
  api: CnbApi,
  thread: ThreadRef,
  file: Attachment,
  options: { webEndpoint: string; signal?: AbortSignal },
): Promise<string | undefined> {
  try {
    const { link, uploadUrl } =
      thread.kind === 'issue' ? await forIssue(api, thread, file) : await forPull(api, thread, file);
    await put(uploadUrl, file, options.signal);
    return new URL(link, `${options.webEndpoint}/`).href;
  } catch (error) {
    if (notAllowed.has(statusOf(error) ?? 0)) return undefined;
    throw error;
  }
}

async function forIssue(
  api: CnbApi,
  thread: ThreadRef,
  file: Attachment,
): Promise<{ link: string; uploadUrl: string }> {
  const path = apiPath(thread.slug, '-/issues', thread.number, 'comment-file-asset-upload-url');
  const body = { name: file.name, size: file.bytes.byteLength, content_type: file.type };
  const answer = given(await api.write('POST', path, body, AssetUpload));
  return { link: answer.asset_link, uploadUrl: answer.upload_url };
}

async function forPull(api: CnbApi, thread: ThreadRef, file: Attachment): Promise<{ link: string; uploadUrl: string }> {
  const body = { name: file.name, size: file.bytes.byteLength, ext: {} };
  const answer = given(await api.write('POST', apiPath(thread.slug, '-/upload/files'), body, FileUpload));
  return { link: answer.assets.path, uploadUrl: answer.upload_url };
}

/** The upload address carries its own permission; our token must not go to that host. */
async function put(url: string, file: Attachment, signal: AbortSignal | undefined): Promise<void> {
  const timeout = AbortSignal.timeout(120_000);
  const response = await fetch(url, {
    method: 'PUT',
    body: file.bytes,
    headers: { 'content-type': file.type },
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  await response.text();
  if (response.ok) return;
  const details = { status: response.status, method: 'PUT', path: new URL(url).pathname };
  throw new AppError('forge', `The upload of ${file.name} was answered with ${response.status}.`, { details });
}

function given<T>(answer: T | undefined): T {
  if (answer === undefined) throw new AppError('forge', 'CNB answered an upload request with an empty body.');
  return answer;
}
