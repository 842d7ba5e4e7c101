import { z } from 'zod';
import { git, tryGit } from './git.ts';
import { type Call, notFound, page, Refusal, type Route } from './http.ts';
import { personShape } from './shapes.ts';
import { type Asset, accessLevels, drawToken } from './world.ts';

const BranchForm = z.object({ name: z.string(), start_point: z.string() });
const AssetForm = z.object({ name: z.string().min(1), size: z.int().positive(), content_type: z.string().default('') });

/** The routes of branches, files, uploads and members. */
export const repositoryRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'git/head',
    scope: 'repo-code:r',
    handle: ({ repository }) => ({
      status: 200,
      body: { name: `refs/heads/${repository.defaultBranch}`, protected: false },
    }),
  },
  {
    method: 'GET',
    path: 'git/branches',
    scope: 'repo-code:r',
    handle: async (call) => {
      const list = await git(
        call.repository.folder,
        'for-each-ref',
        '--format=%(refname:short) %(objectname)',
        'refs/heads',
      );
      const branches = list
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' '));
      return { status: 200, body: page(branches, call.query).map(([name = '', sha = '']) => branchShape(name, sha)) };
    },
  },
  {
    method: 'POST',
    path: 'git/branches',
    scope: 'repo-code:rw',
    handle: async (call) => {
      const { name, start_point: start } = call.read(BranchForm);
      const sha = await commitOf(call, start);
      await git(call.repository.folder, 'update-ref', `refs/heads/${name}`, sha);
      return { status: 201, body: branchShape(name, sha) };
    },
  },
  {
    method: 'GET',
    path: 'git/branches/*branch',
    scope: 'repo-code:r',
    handle: async (call) => {
      const branch = call.parameters.branch ?? '';
      return { status: 200, body: branchShape(branch, await commitOf(call, `refs/heads/${branch}`)) };
    },
  },
  {
    method: 'DELETE',
    path: 'git/branches/*branch',
    scope: 'repo-code:rw',
    handle: async (call) => {
      await commitOf(call, `refs/heads/${call.parameters.branch}`);
      await git(call.repository.folder, 'update-ref', '-d', `refs/heads/${call.parameters.branch}`);
      return { status: 204 };
    },
  },
  {
    method: 'GET',
    path: 'git/commits/*ref',
    scope: 'repo-code:r',
    handle: async (call) => {
      const sha = await commitOf(call, call.parameters.ref ?? '');
      const message = await git(call.repository.folder, 'log', '-1', '--format=%B', sha);
      return { status: 200, body: { sha, commit: { message }, parents: [] } };
    },
  },
  {
    method: 'GET',
    path: 'git/contents/*path',
    scope: 'repo-code:r',
    handle: async (call) => {
      const ref = call.query.get('ref') ?? call.repository.defaultBranch;
      const path = call.parameters.path ?? '';
      const sha = await tryGit(call.repository.folder, 'rev-parse', '-q', '--verify', `${ref}:${path}`);
      if (!sha) throw notFound(path);
      const text = await git(call.repository.folder, 'cat-file', '-p', sha);
      const content = Buffer.from(text).toString('base64');
      return {
        status: 200,
        body: { type: 'blob', path, name: path.split('/').at(-1), sha, content, encoding: 'base64' },
      };
    },
  },
  {
    method: 'POST',
    path: 'issues/:number/comment-file-asset-upload-url',
    scope: 'repo-notes:rw',
    handle: (call) => {
      const { name, content_type: type } = call.read(AssetForm);
      const asset = newAsset(call, 'issues', { name, type });
      const path = asset.link;
      return {
        status: 200,
        body: { asset_link: call.web(path), name, path, upload_url: call.web(`/-/uploads/${asset.id}`) },
      };
    },
  },
  {
    method: 'POST',
    path: 'upload/files',
    scope: 'repo-contents:rw',
    handle: (call) => {
      const { name, size } = call.read(AssetForm);
      const asset = newAsset(call, 'slug', { name, type: '' });
      const assets = { path: asset.link, name, size, content_type: '', ext: {} };
      return { status: 200, body: { assets, upload_url: call.web(`/-/uploads/${asset.id}`), form: {}, token: '' } };
    },
  },
  {
    method: 'GET',
    path: 'members/:user/access-level',
    scope: 'repo-manage:r',
    handle: (call) => {
      const person = call.world.people.get(call.parameters.user ?? '');
      if (!person) throw notFound('user');
      const level = accessLevels.indexOf(person.access);
      return {
        status: 200,
        body: [{ path: call.repository.slug, access_level: Math.random() < 0.5 ? person.access : level * 10 }],
      };
    },
  },
];

/** `GET /user` and `GET /users/:name`. */
export function userAnswer(call: Pick<Call, 'world' | 'person'>, name: string | undefined): unknown {
  const person = name === undefined ? call.person : call.world.people.get(name);
  if (!person) throw notFound('user');
  return { id: person.username, ...(personShape(person) as object) };
}

function newAsset(call: Call, folder: string, file: { name: string; type: string }): Asset {
  const id = drawToken();
  const link = `/${call.repository.slug}/-/files/${folder}/${id}/${encodeURIComponent(file.name)}`;
  const asset: Asset = { id, link, type: file.type || 'application/octet-stream' };
  call.world.assets.set(id, asset);
  return asset;
}

async function commitOf(call: Call, ref: string): Promise<string> {
  if (ref.startsWith('-')) throw new Refusal(400, 2_000_005, 'bad ref');
  const sha = await tryGit(call.repository.folder, 'rev-parse', '-q', '--verify', `${ref}^{commit}`);
  if (!sha) throw notFound(ref);
  return sha;
}

function branchShape(name: string, sha: string): unknown {
  return { name, commit: { sha }, protected: false, locked: false };
}
