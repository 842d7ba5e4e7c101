import { z } from 'zod';
import { expose, type Family, single } from '../../base/prometheus.ts';
import type { Agent } from '../agents.ts';
import { Counts, type Histogram } from '../counters.ts';
import type { Metrics } from '../metrics.ts';
import type { HubView } from '../view.ts';
import { sendText } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { byLabel, ranges } from './exposition.ts';

/** Agents that have lines of their own: those that are connected, then those for whom most waits. */
const AGENTS = 256;

/** The hub's counters in the text format of Prometheus. */
export const metricsEndpoint = endpoint({
  method: 'GET',
  path: '/metrics',
  scope: 'watch',
  help: 'counters in the text format of Prometheus',
  query: z.strictObject({}),
  answer: async ({ view, response }) => {
    const { text, contentType } = await expose([...counted(view.metrics), ...standing(view)]);
    return sendText(response, text, contentType);
  },
});

/** What was counted since the start. */
function counted(metrics: Metrics): Family[] {
  const counter = (name: string, help: string, samples: Family['samples']): Family => {
    return { type: 'counter', name, help, samples };
  };
  const histogram = (name: string, help: string, values: Histogram): Family => {
    return { type: 'histogram', name, help, samples: () => ranges(name, values) };
  };
  return [
    counter('hub_frames_total', 'Frames read and said.', () => [
      ...byLabel('type', metrics.framesIn, { dir: 'in' }),
      ...byLabel('type', metrics.framesOut, { dir: 'out' }),
    ]),
    counter('hub_errors_total', 'Error frames said.', () => byLabel('code', metrics.errors)),
    counter('hub_refused_total', 'Upgrades refused, by HTTP status.', () => byLabel('status', metrics.refusals)),
    counter('hub_disconnects_total', 'Connections that ended.', () => byLabel('code', metrics.disconnects)),
    histogram('hub_route_seconds', 'From reading a message to handing on what its turn had to say.', metrics.route),
    histogram('hub_commit_seconds', 'Time of a commit.', metrics.commit),
    histogram('hub_commit_batch', 'Changes in a commit.', metrics.commitBatch),
    counter('hub_redelivered_total', 'Messages handed over again.', () => single(metrics.redelivered)),
    counter('hub_resume_total', 'Sessions by what became of them at hello.', () => byLabel('state', metrics.resumes)),
    histogram('hub_task_wait_seconds', 'How long tasks waited for an offer.', metrics.taskWait),
    {
      type: 'histogram',
      name: 'hub_task_run_seconds',
      help: 'How long attempts took.',
      samples: () => [...metrics.taskRun].flatMap(([role, values]) => ranges('hub_task_run_seconds', values, { role })),
    },
    counter('hub_attempts_total', 'Offers and attempts that ended.', () => byLabel('outcome', metrics.attempts)),
    counter('hub_tasks_ended_total', 'Tasks that ended.', () => byLabel('state', metrics.tasksEnded)),
    counter('hub_stale_results_total', 'Results of attempts that were over.', () => single(metrics.staleResults)),
    counter('hub_lease_expired_total', 'Attempts that ended by silence.', () => single(metrics.leasesExpired)),
    histogram('hub_ping_rtt_seconds', 'From a ping to its pong.', metrics.pingRoundTrip),
    histogram('hub_eventloop_lag_seconds', 'How late the event loop was.', metrics.loopLag),
  ];
}

/** How things stand now. */
function standing(view: HubView): Family[] {
  const gauge = (name: string, help: string, samples: Family['samples']): Family => {
    return { type: 'gauge', name, help, samples };
  };
  const agents = chosen(view.agents.all());
  const each = (read: (agent: Agent) => number | undefined) => () =>
    agents.flatMap((agent) => {
      const value = read(agent);
      return value === undefined ? [] : { labels: { agent: agent.name }, value };
    });
  return [
    gauge('hub_connections', 'Open connections.', () => {
      const levels = new Counts();
      for (const level of ['0', '1']) levels.add(level, 0);
      for (const { level } of view.connections) levels.add(String(level));
      return byLabel('level', levels);
    }),
    gauge('hub_tasks', 'Tasks that are not over.', () => {
      const states = new Counts();
      for (const state of ['queued', 'offered', 'working', 'input_required', 'cancelling']) states.add(state, 0);
      for (const { record } of view.tasks.open()) states.add(record.subState);
      return byLabel('state', states);
    }),
    gauge('hub_agents', 'Names that are known.', () => single([...view.agents.all()].length)),
    gauge(
      'hub_mailbox_depth',
      'Messages that wait for an agent.',
      each(({ mailbox }) => mailbox?.depth),
    ),
    gauge(
      'hub_inflight',
      'Messages handed over and not acknowledged.',
      each(({ mailbox }) => mailbox?.inflight),
    ),
    gauge(
      'hub_out_buffer_bytes',
      'Bytes that wait for an agent to read.',
      each((agent) => agent.connection?.queued),
    ),
    gauge('hub_log_position', 'Position of the newest message.', () => single(view.position())),
    gauge('hub_db_bytes', 'Size of the database with its write-ahead log.', async () => single(await view.bytes())),
  ];
}

function chosen(agents: Iterable<Agent>): Agent[] {
  const rank = ({ connection, mailbox }: Agent) => (connection === undefined ? 0 : 1e9) + (mailbox?.depth ?? 0);
  return [...agents].sort((a, b) => rank(b) - rank(a)).slice(0, AGENTS);
}
