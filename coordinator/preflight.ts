import { statfs } from 'node:fs/promises';
import type { Cause } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import type { Trigger } from './trigger.ts';
import { endRun } from './verdict.ts';

/** Bytes that the state folder's disk must have free. */
const LEAST_DISK = 200 * 1024 * 1024;
/** Time below which starting makes no sense, ms. */
const LEAST_TIME_MS = 60_000;

export interface Limit {
  readonly cause: Cause;
  readonly message: string;
  readonly cure: string;
}

interface PreflightOptions {
  readonly trigger: Trigger;
  readonly stateDir: string;
  /** Programs that the repository's commands need and that are not there, with the lines that mend it. */
  readonly missing: readonly { readonly program: string; readonly cure: string }[];
  readonly now: number;
}

/** What limits the run, told before money is spent. What makes it impossible ends it here. */
export async function checkPreflight({ trigger, stateDir, missing, now }: PreflightOptions): Promise<Limit[]> {
  const zh = trigger.language === 'zh-CN';
  const disk = await statfs(stateDir);
  const free = disk.bavail * disk.bsize;
  if (free < LEAST_DISK) {
    const mib = Math.round(free / 1024 / 1024);
    endRun(
      'disk_full',
      zh ? `磁盘只剩 ${mib} MiB。` : `Only ${mib} MiB are left on the disk.`,
      adviceFor('disk_full', trigger),
    );
  }
  if (trigger.deadline !== undefined && trigger.deadline - now < LEAST_TIME_MS) {
    endRun('time_limit', zh ? '剩余时间不足一分钟。' : 'Less than a minute is left.', adviceFor('time_limit', trigger));
  }
  const limits: Limit[] = [];
  if (!trigger.workMode) {
    limits.push({
      cause: 'no_permission',
      message: zh
        ? '没有开启工作模式：可以回答和评审，不能修改代码。'
        : 'Work mode is off: I can answer and review, and not change code.',
      cure: adviceFor('no_permission', trigger),
    });
  }
  if (trigger.forkSlug) {
    limits.push({
      cause: 'no_permission',
      message: zh
        ? `合并请求来自复刻仓库 ${trigger.forkSlug}：尚不支持在复刻的分支上工作，只能回答和评审。`
        : `The pull request comes from the fork ${trigger.forkSlug}: working on a fork's branch is not supported yet, so I only answer and review.`,
      cure: '',
    });
  }
  for (const { program, cure } of missing) {
    limits.push({
      cause: 'toolchain_missing',
      message: zh
        ? `镜像里没有 \`${program}\`，需要它的命令不会运行。`
        : `The image has no \`${program}\`; the commands that need it are not run.`,
      cure,
    });
  }
  return limits;
}
