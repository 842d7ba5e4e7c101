import { AppError } from '../base/errors.ts';
import { Flow, type FlowNode } from '../protocol/index.ts';

/** What happens when nobody says otherwise. */
export const defaultFlow: Flow = Flow.parse([
  { id: 'plan', target_agent: 'architect', next: 'code' },
  { id: 'code', target_agent: 'coder', next: 'review' },
  { id: 'review', target_agent: 'reviewer', next: 'verify', on_fail: 'code' },
  { id: 'verify', target_agent: 'verifier', on_fail: 'code' },
]);

/** The role of a target: `coder` for `coder` and for `coder:2`. */
export function roleOf(node: FlowNode): string {
  return node.target_agent.split(':')[0] ?? node.target_agent;
}

/** Reads a flow from a file's text; `where` names it in the message. Throws `AppError('misconfigured')`. */
export function parseFlow(text: string, where: string): Flow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError(
      'misconfigured',
      `${where} is no JSON: ${(error as Error).message}. A flow is an array of {id, target_agent, payload, next}.`,
    );
  }
  const parsed = Flow.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new AppError('misconfigured', `${where}: ${issue?.path.join('.') || 'the flow'}: ${issue?.message}`);
}

/** Checks a flow before it runs: ids, links, roles, cycles. Throws `AppError('misconfigured')` that names the fault and its cure. */
export function checkFlow(flow: Flow, knownRoles: readonly string[], where: string): void {
  const fail = (message: string): never => {
    throw new AppError('misconfigured', `${where}: ${message}`);
  };
  const ids = new Set<string>();
  for (const node of flow) {
    if (ids.has(node.id)) fail(`two nodes are called "${node.id}"; give each its own id.`);
    ids.add(node.id);
  }
  for (const node of flow) {
    for (const [key, targets] of Object.entries({
      next: nextOf(node),
      needs: node.needs ?? [],
      on_fail: node.on_fail ? [node.on_fail] : [],
    }))
      for (const target of targets)
        if (!ids.has(target))
          fail(
            `"${node.id}" names "${target}" in ${key}, and there is no such node (there are: ${[...ids].join(', ')}).`,
          );
    const role = roleOf(node);
    if (!knownRoles.includes(role))
      fail(
        `"${node.id}" is for the role "${role}", which nobody plays (known: ${knownRoles.join(', ')}). Correct target_agent, or add an agent of that role to .npc/config.yml or to the hub.`,
      );
  }
  const cycle = findCycle(flow);
  if (cycle)
    fail(`the nodes ${cycle.join(' -> ')} form a cycle; use on_fail to send work back, next only goes forward.`);
}

/** The nodes so that each stands behind those it waits for; nodes that do not depend on each other keep the file's order. */
export function orderFlow(flow: Flow): FlowNode[] {
  const waiting = [...flow];
  const placed = new Set<string>();
  const order: FlowNode[] = [];
  while (waiting.length > 0) {
    const index = waiting.findIndex((node) => before(flow, node).every((id) => placed.has(id)));
    const [node] = waiting.splice(Math.max(index, 0), 1);
    if (!node) break;
    placed.add(node.id);
    order.push(node);
  }
  return order;
}

function nextOf(node: FlowNode): string[] {
  return node.next == null ? [] : [node.next].flat();
}

/** The ids of the nodes that must be over before `node` starts. */
function before(flow: Flow, node: FlowNode): string[] {
  return [...(node.needs ?? []), ...flow.filter((other) => nextOf(other).includes(node.id)).map((other) => other.id)];
}

function findCycle(flow: Flow): string[] | undefined {
  const byId = new Map(flow.map((node) => [node.id, node]));
  const cleared = new Set<string>();
  const walk = (id: string, path: string[]): string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    const node = byId.get(id);
    if (!node || cleared.has(id)) return undefined;
    for (const previous of before(flow, node)) {
      const found = walk(previous, [...path, id]);
      if (found) return found;
    }
    cleared.add(id);
    return undefined;
  };
  for (const node of flow) {
    const found = walk(node.id, []);
    if (found) return found.reverse();
  }
  return undefined;
}
