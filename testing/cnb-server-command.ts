import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { type StartRun, startCnbServer } from './cnb-server.ts';

const help = `Usage: npm run cnb-server -- --repo DIR [--port N] [--run COMMAND] [--slug SLUG]

Serves a fake CNB on 127.0.0.1 with one repository made from DIR, one issue and one user.
Prints how to mention the agent with curl. Ends with Ctrl-C.

  --repo DIR       folder the repository is made from; its history is kept when it is a git repository
  --port N         port to listen on; a free one by default
  --run COMMAND    shell command that a mention starts, with CNB's variables, in a checked-out work tree
  --slug SLUG      path of the repository on the platform; team/demo/DIR's name by default
  --no-lock        builds of one thread run side by side
  --help           this text

Examples:
  npm run cnb-server -- --repo ../shop --port 8090
  npm run cnb-server -- --repo ../shop --run "$PWD/bin/npc-crew run"
`;

const { values } = parseArgs({
  options: {
    repo: { type: 'string' },
    port: { type: 'string', default: '0' },
    run: { type: 'string' },
    slug: { type: 'string' },
    'no-lock': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(help);
} else if (values.repo === undefined || !/^\d+$/.test(values.port)) {
  process.stderr.write(`cnb-server: --repo DIR is needed, and --port takes a number.\n\n${help}`);
  process.exitCode = 2;
} else {
  await serve(values.repo, { port: Number(values.port), run: values.run, slug: values.slug, lock: !values['no-lock'] });
}

async function serve(
  repo: string,
  options: { port: number; run: string | undefined; slug: string | undefined; lock: boolean },
): Promise<void> {
  const name =
    repo
      .replace(/\/+$/, '')
      .split('/')
      .at(-1)
      ?.replace(/[^\w.-]/g, '') || 'repository';
  const slug = options.slug ?? `team/demo/${name}`;
  const { run } = options;
  const startRun: StartRun | undefined =
    run === undefined ? undefined : (env, cwd) => spawn(run, { cwd, shell: true, env: { ...process.env, ...env } });
  const server = await startCnbServer({
    port: options.port,
    lock: options.lock,
    ...(startRun && { startRun: loud(startRun) }),
  });
  await server.createRepository({ slug, from: repo });
  const { token } = server.createUser({ username: 'alice' });
  const mention = server.defineNpc({ slug: 'team/npc-crew', name: 'Agent' });
  const issue = server.createIssue({ slug, author: 'alice', title: 'First issue' });
  const comments = `${server.apiUrl}/${slug}/-/issues/${issue.number}/comments`;
  const headers = `-H 'Authorization: Bearer ${token}' -H 'Accept: application/vnd.cnb.api+json'`;
  process.stdout.write(`CNB_API_ENDPOINT  ${server.apiUrl}
CNB_WEB_ENDPOINT  ${server.url}
clone with        git clone http://cnb:${token}@${server.url.slice(7)}/${slug}
bare repository   ${server.folder}/repositories/${slug}.git

Mention the agent in issue ${issue.number}, with work mode on:
  curl -sS ${headers} -H 'Content-Type: application/json' ${comments} \\
    -d '{"body":"${mention} fix the failing test","work_mode":true}'

Read the thread:
  curl -sS ${headers} ${comments}
`);
  const stop = (): void => void server.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

/** Shows what a run prints. */
function loud(start: StartRun): StartRun {
  return (env, cwd) => {
    const child = start(env, cwd);
    child.stdout?.pipe(process.stdout, { end: false });
    child.stderr?.pipe(process.stderr, { end: false });
    return child;
  };
}
