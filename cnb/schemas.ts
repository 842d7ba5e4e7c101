import { z } from 'zod';

/** What we read of the CNB API's answers. Unknown fields are ignored, ids and numbers are strings, optional means seen to be absent. */

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const id = z.union([z.string().min(1), z.number()]).transform(String);

const Person = z.object({ username: text, is_npc: z.boolean().nullish() });
const authored = { author: Person.nullish(), user: Person.nullish() };

export const Issue = z.object({ number: id, title: text, body: text, state: text, ...authored });
export const Comment = z.object({ id, body: text, created_at: text, ...authored });
export const Review = Comment.extend({ state: text });
export const ReviewComment = Comment.extend({
  path: text,
  start_line: z.number().nullish(),
  end_line: z.number().nullish(),
});

const PullEnd = z.object({ ref: text, sha: text, repo: z.object({ path: text }).nullish() });
export const Pull = z.object({
  number: id,
  title: text,
  body: text,
  state: text,
  head: PullEnd,
  base: PullEnd,
  ...authored,
});
export const PullFile = z.object({ filename: z.string(), status: text, patch: text });

/** Answer of the newer upload, for issue comments. */
export const AssetUpload = z.object({ asset_link: z.string(), upload_url: z.url() });
/** Answer of the older upload. */
export const FileUpload = z.object({ assets: z.object({ path: z.string() }), upload_url: z.url() });

export const WebError = z.object({
  errcode: z.union([z.number(), z.string()]).nullish(),
  errmsg: text,
});

export type Issue = z.infer<typeof Issue>;
export type Comment = z.infer<typeof Comment>;
export type ReviewComment = z.infer<typeof ReviewComment>;
export type Pull = z.infer<typeof Pull>;
