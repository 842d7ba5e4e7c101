import { type Call, notFound, page, type Route } from './http.ts';
import type { Build } from './pipeline.ts';

/** The routes of builds: their state, their list, their log, and the way to stop them. */
export function buildRoutes(at: {
  readonly builds: readonly Build[];
  readonly cancel: (build: Build) => void;
}): readonly Route[] {
  const buildOf = (call: Call): Build => {
    const build = at.builds.find(({ sn, slug }) => sn === call.parameters.sn && slug === call.repository.slug);
    if (!build) throw notFound(`build ${call.parameters.sn}`);
    return build;
  };
  return [
    {
      method: 'GET',
      path: 'build/status/:sn',
      scope: 'repo-cnb-trigger:r',
      handle: (call) => {
        const build = buildOf(call);
        const status = build.status === 'start' ? 'pending' : build.status;
        const stages = [{ id: 'stage-0', name: 'run agent', status: build.status, duration: durationOf(build) }];
        const pipeline = { id: `${build.sn}-001`, status, duration: durationOf(build), labels: [], stages };
        return { status: 200, body: { status, pipelinesStatus: { [pipeline.id]: pipeline } } };
      },
    },
    {
      method: 'GET',
      path: 'build/logs',
      scope: 'repo-cnb-history:r',
      handle: (call) => {
        const all = at.builds.filter(({ slug }) => slug === call.repository.slug).toReversed();
        const data = page(all, call.query).map((build) => ({
          sn: build.sn,
          status: build.status,
          event: build.env.CNB_EVENT ?? '',
          userName: build.occasion.author.username,
          buildLogUrl: call.web(`/${build.slug}/-/build/logs/${build.sn}`),
          duration: durationOf(build),
        }));
        return { status: 200, body: { data, total: all.length, timestamp: Date.now(), init: true } };
      },
    },
    {
      method: 'GET',
      path: 'build/logs/stage/:sn/:pipeline/:stage',
      scope: 'repo-cnb-history:r',
      handle: (call) => {
        const build = buildOf(call);
        const facts = {
          id: 'stage-0',
          name: 'run agent',
          status: build.status,
          duration: durationOf(build),
          error: build.problem,
        };
        return { status: 200, body: { ...facts, content: build.output.split('\n') } };
      },
    },
    {
      method: 'POST',
      path: 'build/stop/:sn',
      scope: 'repo-cnb-trigger:rw',
      handle: (call) => {
        at.cancel(buildOf(call));
        return { status: 200, body: { success: true } };
      },
    },
  ];
}

function durationOf(build: Build): number {
  return build.startedAt === undefined ? 0 : (build.endedAt ?? Date.now()) - build.startedAt;
}
