import { expect, test } from 'vitest';
import { readMention } from './mentions.ts';

test.each([
  ['@Agent stop', 'stop'],
  ['@team/agents(Agent) stop.', 'stop'],
  ['请看一下 @Agent 停止', 'stop'],
  ['@Agent continue', 'continue'],
  ['@Agent 继续', 'continue'],
  ['@Agent 再加一个测试', 'other'],
  ['@Agent stop using var here', 'other'],
])('R-RUN-8: "%s" is %s', (body, kind) => {
  expect(readMention(body, 'Agent')).toBe(kind);
});

test.each([
  'no mention',
  '> @Agent stop',
  '`@Agent stop`',
  '```\n@Agent stop\n```',
  'mail me@Agent stop',
  '@Agents stop',
  '@team/agents(Other) stop',
])('R-RUN-8: "%s" does not mention us', (body) => {
  expect(readMention(body, 'Agent')).toBeUndefined();
});
