import { expect, test } from 'vitest';
import { Flow } from '../protocol/index.ts';
import { checkFlow, defaultFlow, orderFlow, parseFlow } from './flow.ts';

const roles = ['architect', 'coder', 'reviewer', 'verifier'];
const flow = (nodes: object[]): Flow => Flow.parse(nodes);
const fault = (nodes: object[]): string => {
  try {
    checkFlow(flow(nodes), roles, 'flow.json');
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

test('R-RUN-1: the default flow is sound and runs in its order', () => {
  checkFlow(defaultFlow, roles, 'default');
  expect(orderFlow(defaultFlow).map((node) => node.id)).toEqual(['plan', 'code', 'review', 'verify']);
});

test('R-RUN-1: an unknown role is told with the roles there are', () => {
  expect(fault([{ id: 'a', target_agent: 'poet' }])).toMatch(
    /flow\.json: "a" is for the role "poet".*known: architect, coder/,
  );
});

test('R-RUN-1: a role with a number is the role', () => {
  expect(fault([{ id: 'a', target_agent: 'coder:2' }])).toBe('');
});

test('R-RUN-1: a cycle is told as the way around it', () => {
  const nodes = [
    { id: 'a', target_agent: 'coder', next: 'b' },
    { id: 'b', target_agent: 'coder', next: 'c' },
    { id: 'c', target_agent: 'coder', next: 'a' },
  ];
  expect(fault(nodes)).toMatch(/a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c/);
});

test('R-RUN-1: a node that needs itself is a cycle, and on_fail backwards is none', () => {
  expect(fault([{ id: 'a', target_agent: 'coder', needs: ['a'] }])).toMatch(/cycle/);
  const back = [
    { id: 'a', target_agent: 'coder', next: 'b' },
    { id: 'b', target_agent: 'reviewer', on_fail: 'a' },
  ];
  expect(fault(back)).toBe('');
});

test.each([
  ['next', { id: 'a', target_agent: 'coder', next: 'x' }],
  ['needs', { id: 'a', target_agent: 'coder', needs: ['x'] }],
  ['on_fail', { id: 'a', target_agent: 'coder', on_fail: 'x' }],
])('R-RUN-1: a link in %s to a node that is not there is told', (key, node) => {
  expect(fault([node])).toContain(`names "x" in ${key}`);
});

test('R-RUN-1: two nodes of one id are told', () => {
  expect(
    fault([
      { id: 'a', target_agent: 'coder' },
      { id: 'a', target_agent: 'coder' },
    ]),
  ).toMatch(/two nodes are called "a"/);
});

test('R-RUN-1: a node stands behind all that it waits for, whatever the order in the file', () => {
  const nodes = flow([
    { id: 'last', target_agent: 'verifier', needs: ['left', 'right'] },
    { id: 'right', target_agent: 'coder' },
    { id: 'first', target_agent: 'architect', next: ['left', 'right'] },
    { id: 'left', target_agent: 'coder' },
  ]);
  expect(orderFlow(nodes).map((node) => node.id)).toEqual(['first', 'right', 'left', 'last']);
});

test.each([
  ['{oops', /is no JSON/],
  ['{}', /expected array/i],
  ['[]', /flow\.json/],
  ['[{"id":"a b","target_agent":"coder"}]', /0\.id/],
])('R-RUN-1: the file %s gets one line that says where it is wrong', (text, message) => {
  expect(() => parseFlow(text, 'flow.json')).toThrow(message);
});
