import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { fileWords } from '../../base/file-words.ts';
import type { Log } from '../../base/log.ts';
import { createMasker } from '../../base/mask.ts';
import { endProcesses } from '../../base/process-tree.ts';
import { childEnv, type Environment, environment, PlaceSettings, readConfig, readProxies } from '../../config/index.ts';
import { adviceFor } from '../../coordinator/advice.ts';
import { openGitWorkshop } from '../../coordinator/open-workshop.ts';
import type { CoordinatorOptions, RunOutcome } from '../../coordinator/options.ts';
import { runCoordinator } from '../../coordinator/run.ts';
import type { Trigger } from '../../coordinator/trigger.ts';
import { type Decision, decide } from '../../coordinator/verdict.ts';
import { type Cassette, mustBeEmpty, readCassette } from '../../llm/index.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { modelFilePath, readDialects } from '../doctor/model-file.ts';
import { Exit } from '../exit-code.ts';
import { reportFault } from '../fault.ts';
import { hubAddress } from '../hub-address.ts';
import { findHubToken } from '../hub-token.ts';
import { creditsNotice, modelNames, modelProblem, openGateway, withRepoModels } from '../model-gateway.ts';
import { quiet } from '../options.ts';
import { say } from '../print.ts';
import { type LiveView, openLiveView } from '../show/live-view.ts';
import { mustBeFree, noteRun, openStateFolder, type StateFolder, stateRoot, workIn } from '../state-folder.ts';
import { version } from '../version.ts';
import { openCrew } from './crew.ts';
import { complete, type Errand, forgeOf, readErrand } from './errand.ts';
import { checkModel, type Readings, readSettings } from './readings.ts';
import { openRunHub } from './run-hub.ts';
import { forgetStop, noteStop } from './stopped.ts';
import { asRecorded, openTape } from './tape.ts';
import { tell } from './tell.ts';

/** What `npc-crew run` was told. */
export interface RunOptions {
  readonly goal?: string;
  readonly repo?: string;
  readonly hub?: string;
  /** File of the token for that hub. */
  readonly tokenFile?: string;
  readonly flow?: string;
  readonly state?: string;
  readonly inProcess?: boolean;
  readonly json?: boolean;
  /** File to keep model calls in, or to answer them from. */
  readonly record?: string;
  readonly replay?: string;
  /** False with `--no-thinking`. */
  readonly thinking?: boolean;
  /** Key of a run that no thread started; the supervisor draws it, so that a restart has the same. */
  readonly runKey: string;
  readonly resume?: boolean;
}

/** Does one run, from its trigger to its report, and returns the exit code. `signal`, with its name as reason, ends it early. */
export async function runProcess(options: RunOptions, signal: AbortSignal): Promise<number> {
  const env = environment();
  const errand = await readErrand({ ...options, drawnKey: options.runKey }, env);
  if ('line' in errand) {
    say(`npc-crew: ${errand.line}`);
    return errand.exit;
  }
  const cassette = options.replay === undefined ? undefined : await readCassette(options.replay);
  if (options.record !== undefined && !options.resume) await mustBeEmpty(options.record);
  const read = await readSettings(env);
  const readings = cassette ? { ...read, ...asRecorded(read, cassette.header.setup) } : read;
  if (!errand.trigger.thread && !readings.wrong && !cassette) checkModel(readings.settings, errand.trigger);
  const flow = options.flow === undefined ? undefined : await readFlow(options.flow);
  const hubToken = await findHubToken(options);
  const places = readConfig(PlaceSettings, { flags: { state: options.state, ...quiet(options) }, environment: env });
  const state = await openStateFolder(places.state ?? join(stateRoot(env), errand.runKey), errand.trigger.thread);
  const { folder } = state;
  try {
    if (state.problem !== undefined) say(`npc-crew: ${state.problem}`);
    if ((await workIn(folder))?.run_key === errand.runKey) {
      say('npc-crew: nothing to do: another process works on this request');
      return Exit.ok;
    }
    await mustBeFree(folder);
    return await runIn(state, {
      options,
      env,
      readings,
      errand,
      places,
      hubToken,
      signal,
      cassette,
      ...(flow && { flow }),
    });
  } finally {
    await state.close();
  }
}

interface Start {
  /** What is played instead of asking models. */
  readonly cassette: Cassette | undefined;
  readonly options: RunOptions;
  readonly env: Environment;
  readonly readings: Readings;
  readonly flow?: Flow;
  readonly errand: Errand;
  readonly places: PlaceSettings;
  readonly hubToken: string | undefined;
  readonly signal: AbortSignal;
}

async function runIn({ folder, problem }: StateFolder, start: Start): Promise<number> {
  const { options, env, readings, flow, places, hubToken, signal, cassette } = start;
  const errand: Errand =
    problem === undefined
      ? start.errand
      : { ...start.errand, impossible: { cause: 'misconfigured', message: problem } };
  await forgetStop(folder);
  const stopped = () => noteStop(folder, String(signal.reason));
  if (signal.aborted) stopped();
  else signal.addEventListener('abort', stopped, { once: true });
  const log = openDiagnostics(folder, places.logLevel);
  const view = openLiveView({ stream: process.stderr });
  try {
    const outcome = await run({
      ...{ options, env, readings, errand, folder, log, view, signal, hubToken, cassette, thinking: places.thinking },
      ...(flow && { flow }),
    });
    view.close();
    await tell(outcome, errand, options, folder);
    return outcome.exit;
  } catch (error) {
    view.close();
    return reportFault(error, folder);
  }
}

interface Parts {
  readonly cassette: Cassette | undefined;
  readonly options: RunOptions;
  readonly env: Environment;
  readonly readings: Readings;
  readonly flow?: Flow;
  readonly errand: Errand;
  readonly folder: string;
  readonly log: Log;
  readonly view: LiveView;
  /** Whether people see what models think. */
  readonly thinking: boolean;
  readonly signal: AbortSignal;
  readonly hubToken: string | undefined;
}

/** Wires the rooms together, lets the coordinator work, and takes everything down again. */
async function run({
  options,
  env,
  folder,
  log,
  view,
  signal,
  hubToken,
  thinking,
  cassette,
  ...parts
}: Parts): Promise<RunOutcome> {
  const { settings, fallbacks, pace, prices, wrong } = parts.readings;
  const forge = forgeOf(parts.errand, env, log);
  const errand = await complete(parts.errand, forge, env);
  const { trigger, runKey } = errand;
  const closing: (() => Promise<void> | void)[] = [];
  const keys = [settings.apiKey, ...fallbacks.map(({ apiKey }) => apiKey)];
  const secrets = [...keys, hubToken, ...(forge?.remote.secrets ?? [])].filter((value) => value !== undefined);
  const masker = createMasker(secrets);
  try {
    const tape = await openTape({
      ...{
        settings,
        fallbacks,
        record: options.record,
        goOn: options.resume ?? false,
        cassette,
        replay: options.replay,
      },
      ...{ runKey, folder, workspace: trigger.workspace, env, secrets, log, language: trigger.language, say: view.say },
    });
    closing.push(async () => await tape?.close());
    const external =
      options.hub === undefined ? undefined : { url: hubAddress(options.hub), ...(hubToken && { token: hubToken }) };
    const hub = await openRunHub({ folder, runKey, log, ...(external && { external }) });
    closing.push(() => hub.close());
    const { client } = hub;
    await noteRun(folder, { runKey, hubUrl: hub.url, goal: trigger.request });
    view.say(`npc-crew ${version}: run ${runKey}, hub ${hub.url}, state in ${folder}`);

    const children = { ...childEnv(env), NPC_RUN: folder };
    const endLeftovers = () => endProcesses({ variable: { name: 'NPC_RUN', value: folder } });
    closing.push(async () => void (await endLeftovers()));
    const gateway = await openGateway({
      ...{ settings, fallbacks, proxies: readProxies(env), ...(prices && { prices }) },
      ...{ log, client, runKey, deadline: trigger.deadline, say: view.say, language: trigger.language, tape },
      mask: masker.mask,
      dialects: await readDialects(modelFilePath(env), Date.now()),
      ...(thinking && { think: view.think }),
    });
    closing.push(() => gateway.close());
    await noteRun(folder, { runKey, hubUrl: hub.url, gatewayUrl: gateway.url, goal: trigger.request });
    const crew = openCrew({
      hub,
      gateway,
      folder,
      env: children,
      log,
      say: view.say,
      inProcess: options.inProcess ?? false,
    });
    closing.push(() => crew.end());

    const impossible = errand.impossible ?? wrong;
    return await runCoordinator({
      trigger,
      runKey,
      version,
      ...(forge && { forge }),
      client,
      trusted: [],
      spawn: crew.spawn,
      judge: gateway.modelFor({ role: 'judge', agent: client.name, taskId: runKey }),
      flash: gateway.modelFor({ role: 'flash', agent: client.name, taskId: runKey }),
      revokeTask: (taskId) => gateway.revokeTask(taskId),
      budget: gateway.budget,
      budgetSpent: () => gateway.usage().level === 'spent',
      openWorkshop: () =>
        openGitWorkshop({
          trigger,
          runKey,
          stateDir: folder,
          forge,
          env: children,
          secrets,
          log,
          signal,
          say: view.say,
        }),
      configure(config) {
        const chosen = withRepoModels(settings, config);
        gateway.useModels(modelNames(chosen));
        const language = config.language ?? trigger.language;
        const notice = creditsNotice(chosen, language);
        if (notice !== undefined) view.say(`npc-crew: ${notice}`);
        const problem = cassette ? undefined : modelProblem(chosen, language);
        return problem === undefined
          ? undefined
          : decide('misconfigured', problem, adviceFor('misconfigured', trigger));
      },
      ...(parts.flow && { flow: parts.flow }),
      ...(impossible && { impossible: impossibleOf(impossible, trigger) }),
      ...(hub.setAside && { setAside: hub.setAside }),
      endLeftovers,
      stateDir: folder,
      masker,
      log: log.child({ room: 'coordinator' }),
      signal,
      say: view.say,
      // all of one run: its key in front says nothing here
      onUpdate: ({ tasks }) =>
        view.update(tasks.map((task) => ({ ...task, task_id: task.task_id.slice(runKey.length + 1) }))),
      ...pace,
    });
  } finally {
    for (const close of closing.reverse()) {
      // one part that does not close must not keep the others open
      await Promise.resolve(close()).catch((error: unknown) =>
        log.warn({ err: error }, 'could not close a part of the run'),
      );
    }
  }
}

function impossibleOf({ cause, message }: NonNullable<Errand['impossible']>, trigger: Trigger): Decision {
  return decide(cause, message, adviceFor(cause, trigger));
}

type Flow = NonNullable<CoordinatorOptions['flow']>;

async function readFlow(path: string): Promise<Flow> {
  try {
    return { text: await readFile(path, 'utf8'), where: path };
  } catch (error) {
    throw new AppError('usage', `--flow: cannot read ${path}: ${fileWords(error)}`, { cause: error });
  }
}
