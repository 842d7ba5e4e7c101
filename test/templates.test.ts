import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const read = async (path: string) => readFile(new URL(`../templates/${path}`, import.meta.url), 'utf8');

test('R-CLI-16: both events start the run in the image, one after the other in a thread, and always finish', async () => {
  const file = parse(await read('agent-repo/.cnb.yml'));
  for (const event of ['issue.comment@npc', 'pull_request.comment@npc']) {
    const [pipeline] = file.$[event];
    expect(pipeline.lock).toMatchObject({ wait: true, expires: 7500, timeout: 7500 });
    expect(pipeline.lock.key).toContain('CNB_ISSUE_IID');
    expect(pipeline.lock.key).toContain('CNB_PULL_REQUEST_IID');
    expect(pipeline.stages).toMatchObject([{ script: 'npc-crew run' }]);
    expect(pipeline.failStages).toMatchObject([{ script: 'npc-crew finish' }]);
    expect(pipeline.endStages).toMatchObject([{ script: 'npc-crew finish' }]);
    // with a sandbox the token would be invalid
    expect(pipeline).not.toHaveProperty('sandbox');
  }
});

test('R-CLI-16: the role is called the same in every file', async () => {
  const { npc } = parse(await read('agent-repo/.cnb/settings.yml'));
  expect(npc.roles.map((role: { name: string }) => role.name)).toContain(npc.defaultRole);
});

test('R-CLI-16: every language image takes /opt/npc-crew as it is, without an entry point or a user', async () => {
  const languages = await readdir(new URL('../templates/images', import.meta.url));
  expect(languages.sort()).toEqual(['go', 'java', 'python', 'rust']);
  for (const language of languages) {
    const file = await read(`images/${language}/Dockerfile`);
    expect(file).toContain('COPY --from=npc-crew /opt/npc-crew /opt/npc-crew');
    expect(file).toMatch(/CMD \["npc-crew", "run"\]\n$/);
    expect(file).not.toMatch(/^USER|^ENTRYPOINT \[.+\]/m);
  }
});
