import { readdir, readFile, readlink } from 'node:fs/promises';

/** What a process has open: files by name, sockets by the state of their connection. */
export async function openHandles(pid: number): Promise<string[]> {
  const states = await socketStates(pid);
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ''));
  return (await Promise.all(targets))
    .filter((target) => target !== '')
    .map((target) => {
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      return inode === undefined ? target.replace(/:\[\d+\]/, '') : `socket ${states.get(inode) ?? 'of no connection'}`;
    })
    .sort();
}

/** By inode; as the kernel numbers them: 01 established, 04 to 06 we have ended, 08 the peer has, 0A listening. */
async function socketStates(pid: number): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  for (const line of (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').slice(1)) {
    const [, , remote = '', state = '', , , , , , inode = ''] = line.trim().split(/\s+/);
    states.set(inode, `${state} with ${remote}`);
  }
  return states;
}

/** Memory that a process takes, MiB. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
