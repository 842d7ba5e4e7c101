import { expect, test } from 'vitest';
import { NormalForm } from './normal-form.ts';

const one = new NormalForm({
  run: '0123456789abcdef',
  state: '/home/ann/.local/state/npc-crew/x',
  repo: '/home/ann/shop',
});
const other = new NormalForm({ run: 'fedcba9876543210', state: '/root/state', repo: '/root/web' });

const alike = [
  ['in /home/ann/.local/state/npc-crew/x/trees/code', 'in /root/state/trees/code'],
  ['branch npc/goal-0123456789abcdef of /home/ann/shop', 'branch npc/goal-fedcba9876543210 of /root/web'],
  ['commit 3f2a91c by us', 'commit a91c3f2 by us'],
  ['at 2026-12-01T10:11:12.345Z', 'at 2026-12-02T03:04:05.678Z'],
  ['Date:   Tue Dec 1 01:49:42 2026 +0000', 'Date:   Wed Dec 2 11:09:02 2026 +0800'],
  ['# duration_ms 38.0917', '# duration_ms 121.5'],
  ['✔ doubles (1.32ms)', '✔ doubles (0.9ms)'],
  ['http://127.0.0.1:40311/v1', 'http://127.0.0.1:51234/v1'],
  ['wrote /tmp/npc-Ab12Cd/out', 'wrote /tmp/npc-Zz99Yy/out'],
] as const;

test.each(alike)('R-LLM-83: "%s" and "%s" are no difference between two runs', (recorded, now) => {
  expect(other.text(now)).toBe(one.text(recorded));
});

test('R-LLM-83: words, numbers and paths of the work itself are differences', () => {
  const distinct = [
    'wait 30 s',
    'wait 60 s',
    'line 12',
    'line 13',
    'src/cart.mjs',
    'src/shop.mjs',
    'defaced',
    'efface',
    'price 300',
  ];
  expect(new Set(distinct.map((text) => one.text(text))).size).toBe(distinct.length);
});

test('R-LLM-83: ids of calls are drawn anew in each run, and do not count', () => {
  const message = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' });
  expect(one.value(message('call_1'))).toEqual(other.value(message('chatcmpl-tool-2')));
});
