import { expect, test } from 'vitest';
import type { ToolCall } from '../protocol/index.ts';
import { dangerousCommands } from './dangerous-commands.ts';

const hook = dangerousCommands('/w/tree');

async function refusal(command: unknown, name = 'bash'): Promise<string | undefined> {
  const call: ToolCall = { id: '1', name, input: { command }, origin: 'native' };
  const answer = await hook.at['tool.before']?.({ call }, new AbortController().signal);
  return answer && 'refuse' in answer ? answer.refuse : undefined;
}

test.each([
  'git push origin main',
  'git -C sub -c user.name=x push',
  'git reset --hard HEAD~1',
  'git clean -fdx',
  'git checkout .',
  'git checkout -- .',
  'git checkout -f main',
  'git restore .',
  'git stash drop',
  'git branch -D work',
  'git reflog expire --all',
  'npm test || git reset --hard',
  'cd src && git reset --hard',
  '(git reset --hard)',
  'echo $(git reset --hard)',
  'echo "now: $(git reset --hard)"',
  'echo `git reset --hard`',
  'if true; then git reset --hard; fi',
  'sudo git reset --hard',
  'env A=1 timeout 10s git reset --hard',
  `bash -c 'git reset --hard'`,
  `bash -lc "cd src; git reset --hard"`,
  'eval "git reset --hard"',
  '/usr/bin/git reset --hard',
  '\'git\' "reset" --ha\\rd',
  'A=1 git \\\n reset --hard',
])('R-LOOP-20: %s destroys work and is refused', async (command) => {
  expect(await refusal(command)).toMatch(/destroys|pushing/);
});

test.each([
  'rm -rf /',
  'rm -rf /*',
  'rm -rf ~/x',
  'rm -rf $HOME/x',
  'rm -fr ../other',
  'rm --recursive /var/lib/x',
  'rm /etc/hosts',
  'rm -rf /tmp/x',
  'cd .. && rm -rf other',
  'rm -rf .',
  'rm -rf *',
  'rm -rf /w/tree',
  'rm -rf src ../other',
  'rm -rf -- ../other',
  'rm -rf .git',
  'rm .git/index',
  'rm -rf "$BUILD/"',
  'rm -rf $BUILD/*',
  'echo x > out.txt; rm -rf ..',
  'find / -name x -delete',
  'find .. -exec rm {} +',
  'cat list | xargs rm -rf /w',
])('R-LOOP-20: %s deletes what is not its own and is refused', async (command) => {
  expect(await refusal(command)).toMatch(/outside|whole work tree|git's own|root/);
});

test.each(['pkill node', 'killall -9 node', 'kill -9 -1'])(
  'R-LOOP-20: %s may end this agent and is refused',
  async (command) => {
    expect(await refusal(command)).toMatch(/PID/);
  },
);

test.each([
  'git status && git diff --stat',
  'git checkout -- src/a.ts',
  'git checkout -b fix',
  'git restore --staged .',
  'git clean -nd',
  'git stash && npm test && git stash pop',
  'git log --grep="reset --hard"',
  'echo "git reset --hard"',
  "grep -rn 'rm -rf /' .",
  'rm -rf node_modules dist',
  'rm -rf ./src/old/*',
  'rm -f src/a.ts',
  'rm -f /tmp/out.txt',
  'rm -rf "$SCRATCH"',
  'cd src && rm -rf ../dist',
  'cat > clean.sh <<EOF\nrm -rf /\ngit push\nEOF\nchmod +x clean.sh',
  "cat <<'END' > a && echo ok\ngit reset --hard\nEND",
  'npm test 2>&1 | tail -5 # then git reset --hard',
  'kill 4711',
  'find . -name "*.tmp" -delete',
  'echo a#b; echo x >rm',
  'echo $((1 + 2))',
  '',
])('R-LOOP-20: %s is let through', async (command) => {
  expect(await refusal(command)).toBeUndefined();
});

test('R-LOOP-20: only bash is looked at, and only text', async () => {
  expect(await refusal('rm -rf /', 'write')).toBeUndefined();
  expect(await refusal(7)).toBeUndefined();
});
