import { expect, test } from 'vitest';
import { threadCommandOf } from './thread-command.ts';

test.each([
  ['stop', 'stop'],
  [' Stop. ', 'stop'],
  ['/stop', 'stop'],
  ['please stop now.', 'stop'],
  ['停止', 'stop'],
  ['取消！', 'stop'],
  ['请停一下', 'stop'],
  ['请看一下 停止', 'stop'],
  ['/continue', 'continue'],
  ['继续吧', 'continue'],
])('R-RUN-8: "%s" is %s', (request, command) => {
  expect(threadCommandOf(request)).toBe(command);
});

test.each(['stop using var here', "don't stop", 'continue with the second half', '再加一个测试', '', '不要停止'])(
  'R-RUN-8: "%s" asks for work',
  (request) => {
    expect(threadCommandOf(request)).toBeUndefined();
  },
);
