import { expect, test } from 'vitest';
import { type GateRun, nothingSpent } from '../../protocol/index.ts';
import { emptyRecord, type RunRecord } from '../record.ts';
import { decide } from '../verdict.ts';
import { readMarker } from './marker.ts';
import { renderFinal, renderPointer, renderProgress } from './render.ts';
import type { RunView } from './view.ts';

const runKey = '0011aabbccddeeff';
const sha = 'c'.repeat(40);
const final = { version: '0.1.0', marker: { runKey, state: 'final', verdict: 'green' } } as const;
const live = { version: '0.1.0', marker: { runKey, state: 'live', liveUntil: 1_790_000_000_000 } } as const;
const gate: GateRun = { id: 'gate-1', command: 'npm test', kind: 'test', sha, exit: 0, ms: 1500, tail: '5 passed' };

function view(fill: (record: RunRecord) => void, rest: Partial<RunView> = {}): RunView {
  const record = emptyRecord();
  fill(record);
  return { runKey, language: 'zh-CN', record, tasks: [], startedAt: 0, now: 42_000, ...rest };
}

test('R-RUN-13: a green run names the pull request, the files, and the commands with their commit', () => {
  const body = renderFinal(
    view((record) => {
      record.delivered = {
        branch: 'npc/issue-3-0011aabb',
        sha,
        pullNumber: '7',
        pullUrl: 'https://example.test/pulls/7',
      };
      record.commands = [{ kind: 'test', command: 'npm test', guessed: true }];
      record.verdict = decide(null, '', '查看合并请求，满意就合并。');
      record.commits.push({ taskId: `${runKey}.code`, node: 'code', sha, files: ['src/cart.js'], leftOut: [] });
      record.gates.push(gate);
      record.usage = [{ ...nothingSpent, role: 'coder', model: 'm', calls: 3, paid: 3, input: 900, output: 100 }];
    }),
    final,
  );
  expect(readMarker(body)).toEqual(final.marker);
  expect(body).toContain('### ✅ 已完成');
  expect(body).toContain('[#7](https://example.test/pulls/7)');
  expect(body).toContain('- `src/cart.js`');
  expect(body).toContain('| `npm test`（推断） | ✅ 退出码 0 | `cccccccc` | 1.5 s |');
  expect(body).toContain('3 次模型调用，输入 900 / 输出 100 tokens，用时 42 秒');
});

test('R-RUN-13: a red run says the cause, what happened, the next step, and whether to run again', () => {
  const body = renderFinal(
    view((record) => {
      record.verdict = decide('tests_failing', '`npm test` ended with exit code 1', '补充线索后再次提及我。');
      record.gates.push({ ...gate, exit: 1, tail: 'expected 80, got 90\n```\nfence' });
    }),
    final,
  );
  expect(body).toContain('### ❌ 未完成');
  expect(body).toContain('`tests_failing`');
  expect(body).toContain('**下一步**: 补充线索后再次提及我。 再次运行可能有用。');
  expect(body).toContain('❌ 退出码 1');
  expect(body).toMatch(/````\nexpected 80, got 90\n```\nfence\n````/);
});

test("R-RUN-13: the worker's own words stand apart from the evidence, marked as unchecked", () => {
  const body = renderFinal(
    view((record) => {
      record.verdict = decide(null, '', '');
      record.flow = [{ id: 'code', target_agent: 'coder', payload: {} }];
      record.results.set(`${runKey}.code`, { status: 'success', summary: '全部测试通过', artifacts: [], issues: [] });
      record.notes.push({ body: '顺手改了文档', by: 'coder-1' });
    }),
    final,
  );
  expect(body).toMatch(/执行者的说明（自述，未经核实）<\/summary>\n\n> 全部测试通过/);
  expect(body).toContain('- 顺手改了文档 (coder-1, 未核实)');
  expect(body).toContain('没有运行任何命令。');
});

test('R-RUN-13: a missing program is told as not run, with its cure among the limits', () => {
  const body = renderFinal(
    view((record) => {
      record.verdict = decide('toolchain_missing', '缺少：go', '换镜像');
      record.limits = [{ cause: 'toolchain_missing', message: '镜像里没有 `go`。', cure: 'FROM golang' }];
      record.gates.push({ ...gate, command: 'go test ./...', exit: null, missing: 'go' });
    }),
    final,
  );
  expect(body).toContain('### ⚠️ 部分完成');
  expect(body).toContain('| `go test ./...` | 未运行：缺少 go |');
  expect(body).toContain('- 镜像里没有 `go`。 FROM golang');
});

test('R-RUN-13: while the run works the comment says the step, the tasks, and how long it counts as live', () => {
  const task = {
    task_id: `${runKey}.code`,
    owner: 'coordinator',
    target: 'role:coder',
    state: 'running',
    sub_state: 'working',
  } as const;
  const body = renderProgress(
    view(
      (record) => {
        record.step = 'work';
      },
      {
        language: 'en',
        tasks: [
          { ...task, attempt: 2, agent: 'coder-1', reason: null, parent: null, created: 0, updated: 0, summary: null },
        ],
      },
    ),
    live,
  );
  expect(readMarker(body)).toEqual(live.marker);
  expect(body).toContain('**Step**: working');
  expect(body).toContain('| code | coder-1 | working on it | 2 |');
  expect(body).toContain(`live until ${new Date(live.marker.liveUntil).toISOString()}`);
});

test('R-RUN-13: an answer stands by itself, without an evidence table', () => {
  const body = renderFinal(
    view(
      (record) => {
        record.verdict = decide(null, '', '');
        record.answer = 'The discount applies from 100.';
      },
      { language: 'en' },
    ),
    final,
  );
  expect(body).toContain('### ✅ Answered');
  expect(body).toContain('The discount applies from 100.');
  expect(body).not.toContain('Evidence');
});

test('R-RUN-6: the final comment stays under 60,000 characters whatever it holds', () => {
  const body = renderFinal(
    view((record) => {
      record.verdict = decide('tests_failing', 'x', 'y');
      for (let index = 0; index < 30; index += 1)
        record.gates.push({ ...gate, id: `gate-${index}`, command: `test ${index}`, exit: 1, tail: 'z'.repeat(3000) });
    }),
    final,
  );
  expect(body.length).toBeLessThan(60_000);
  expect(body.match(/<details>/g)?.length).toBe(body.match(/<\/details>/g)?.length);
});

test('R-RUN-13: a pointer is one line', () => {
  expect(renderPointer(runKey, 'zh-CN').split('\n').slice(1)).toHaveLength(1);
});
