import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { liveMentions } from '../cnb/index.ts';
import { createApi } from './cnb/api.ts';
import { buildRoutes } from './cnb/api-builds.ts';
import { issueRoutes } from './cnb/api-issues.ts';
import { modelRoutes } from './cnb/api-models.ts';
import { pullRoutes } from './cnb/api-pulls.ts';
import type { CnbServer, CnbServerOptions, RecordedRequest, Writing } from './cnb/contract.ts';
import { createFaults } from './cnb/faults.ts';
import { commitFiles, createBare, createFork, git, readPushes } from './cnb/git.ts';
import type { LockOptions } from './cnb/lock.ts';
import { createPipelines, type PipelineOptions } from './cnb/pipeline.ts';
import { createPlatform, findThread, type Occasion } from './cnb/platform.ts';
import { personScopes } from './cnb/scopes.ts';
import { createWeb } from './cnb/web.ts';
import {
  createWorld,
  drawToken,
  type FakeIssue,
  type FakePull,
  type FakeRepository,
  type Person,
} from './cnb/world.ts';

export type { CnbServer, CnbServerOptions } from './cnb/contract.ts';
export type { Build, StartRun } from './cnb/pipeline.ts';
export type { FakeComment, FakeIssue, FakePull, FakeRepository } from './cnb/world.ts';

const lockDefaults: LockOptions = { wait: true, expiresMs: 7_500_000, timeoutMs: 7_500_000 };
/** One occasion starts at most so many events. */
const mostEvents = 10;
/** Above so many comments an issue's mentions start nothing any more. */
const mostComments = 100;

/** Starts the fake platform on 127.0.0.1. */
export async function startCnbServer(initial: CnbServerOptions = {}): Promise<CnbServer> {
  let options = initial;
  const folder = initial.folder ?? (await mkdtemp(join(tmpdir(), 'cnb-server-')));
  const world = createWorld();
  const faults = createFaults();
  const requests: RecordedRequest[] = [];
  let deliveries = 1;
  let url = '';

  const pipelines = createPipelines(world, {
    folder,
    webUrl: () => url,
    apiUrl: () => `${url}/api`,
    options: (): PipelineOptions => ({
      ...(options.startRun && { run: options.startRun }),
      failStages: options.failStages ?? [],
      endStages: options.endStages ?? [],
      lock: options.lock === false ? false : { ...lockDefaults, ...(typeof options.lock === 'object' && options.lock) },
      maxRunTimeMs: options.maxRunTimeMs ?? 7_200_000,
      silenceMs: options.silenceMs ?? 600_000,
    }),
  });

  function announce(occasion: Occasion): void {
    const { thread } = occasion;
    if (thread.kind === 'issue' && thread.comments.length > mostComments) return;
    const mentioned = liveMentions(occasion.text).map(({ slug = '', name }) => world.npcs.get(npcKey(slug, name)));
    const known = [...new Set(mentioned)].filter((npc) => npc !== undefined).slice(0, mostEvents);
    for (const npc of known) pipelines.start(occasion, npc, { times: deliveries });
  }

  const platform = createPlatform(world, { announce, checksFirst: () => options.checksFirst ?? 0 });
  const routes = [
    ...issueRoutes(platform),
    ...pullRoutes(platform, { pullAnswer: () => options.pullAnswer ?? 'pull' }),
    ...buildRoutes(pipelines),
    ...modelRoutes(() => options.platformModel),
  ];
  const api = createApi(world, { routes, faults, webUrl: () => url });
  const web = createWeb(world, { folder: join(folder, 'repositories'), faults, builds: pipelines.builds });

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const record: RecordedRequest = { at: Date.now(), method: request.method ?? 'GET', path: pathname, status: 0 };
    requests.push(record);
    response.on('finish', () => {
      record.status = response.statusCode;
    });
    const isApi = pathname.startsWith('/api/');
    const served = isApi
      ? api(request, response, pathname.slice(4), searchParams)
      : web(request, response, pathname, searchParams);
    served.catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(initial.port ?? 0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function repositoryOf(slug: string): FakeRepository {
    const repository = world.repositories.get(slug.toLowerCase());
    if (!repository) throw new Error(`no repository ${slug} was created`);
    return repository;
  }

  function threadOf(slug: string, number: string): FakeIssue | FakePull {
    const thread = repositoryOf(slug).threads.get(number);
    if (!thread) throw new Error(`${slug} has no thread ${number}`);
    return thread;
  }

  function personOf(username: string): Person {
    const person = world.people.get(username);
    if (!person) throw new Error(`no user ${username} was created`);
    return person;
  }

  const writing = ({ slug, author, body = '', workMode = false }: Writing) => ({
    repository: repositoryOf(slug),
    author: personOf(author),
    body,
    workMode,
  });

  function addRepository(
    facts: Pick<FakeRepository, 'slug' | 'defaultBranch' | 'visibility' | 'forkOf'>,
  ): FakeRepository {
    if (facts.slug.split('/').length < 2) throw new Error(`the slug ${facts.slug} needs two or more parts`);
    const repository = {
      id: world.nextId(),
      folder: join(folder, 'repositories', `${facts.slug}.git`),
      threads: new Map(),
      ...facts,
    };
    world.repositories.set(facts.slug.toLowerCase(), repository);
    return repository;
  }

  return {
    url,
    apiUrl: `${url}/api`,
    folder,
    builds: pipelines.builds,
    requests,
    async createRepository({
      slug,
      from = { 'README.md': '# A repository\n' },
      defaultBranch = 'main',
      visibility = 'Private',
      protectedBranches = [],
    }) {
      const repository = addRepository({ slug, defaultBranch, visibility });
      await createBare(repository.folder, from, defaultBranch);
      for (const branch of protectedBranches) await git(repository.folder, 'config', '--add', 'cnb.protected', branch);
      return repository;
    },
    async forkRepository({ slug, of }) {
      const origin = repositoryOf(of);
      const fork = addRepository({
        slug,
        defaultBranch: origin.defaultBranch,
        visibility: origin.visibility,
        forkOf: of,
      });
      await createFork(fork.folder, origin.folder);
      return fork;
    },
    createUser({ username, nickname = username, access = 'Developer' }) {
      const person: Person = { username, nickname, access };
      const token = drawToken();
      world.people.set(username, person);
      world.tokens.set(token, { value: token, person, scopes: personScopes, workMode: true, expired: false });
      return { ...person, token };
    },
    defineNpc(npc) {
      world.npcs.set(npcKey(npc.slug, npc.name), npc);
      return `@${npc.slug}(${npc.name})`;
    },
    createIssue: (issue) => platform.openIssue({ ...writing(issue), title: issue.title }),
    comment: (comment) => platform.comment({ ...writing(comment), thread: threadOf(comment.slug, comment.number) }),
    createPull(pull) {
      const { head, title, base = repositoryOf(pull.slug).defaultBranch, headSlug } = pull;
      return platform.openPull({ ...writing(pull), title, head, base, ...(headSlug !== undefined && { headSlug }) });
    },
    review(review) {
      const pull = findThread(repositoryOf(review.slug), 'pr', review.number);
      return platform.review({
        ...writing(review),
        pull,
        event: review.event ?? 'comment',
        comments: review.comments ?? [],
      });
    },
    thread: threadOf,
    issue: (slug, number) => findThread(repositoryOf(slug), 'issue', number),
    async pull(slug, number) {
      const pull = findThread(repositoryOf(slug), 'pr', number);
      await platform.refresh(repositoryOf(slug), pull);
      return pull;
    },
    pulls: (slug) => [...repositoryOf(slug).threads.values()].filter((thread) => thread.kind === 'pr'),
    commit: ({ slug, branch, files, message = 'Change' }) =>
      commitFiles(repositoryOf(slug).folder, { branch, files, message }),
    pushes: (slug) => readPushes(repositoryOf(slug).folder),
    deliver: (build, how = {}) => pipelines.start(build.occasion, build.npc, how),
    deliverTimes(times) {
      deliveries = times;
    },
    cancel: pipelines.cancel,
    fault: faults.add,
    configure(changes) {
      options = { ...options, ...changes };
    },
    async settled() {
      for (let known = -1; known !== pipelines.builds.length; ) {
        known = pipelines.builds.length;
        await Promise.all(pipelines.builds.map((build) => build.done));
      }
    },
    async close() {
      await pipelines.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (initial.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function npcKey(slug: string, name: string): string {
  return `${slug.toLowerCase()}(${name})`;
}
