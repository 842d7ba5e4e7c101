import { expect, test } from 'vitest';
import { openStorage } from '../../hub/sqlite-storage.ts';
import { join1, testHub } from '../../test/helpers/hub.ts';
import { cancelTask } from './rule-task.ts';

test('R-CLI-48: who ends a task and names it whole has the hub look at no other one', async () => {
  let looks = 0;
  const hub = await testHub({
    openStorage: async (path) => {
      const { storage, ...rest } = await openStorage(path);
      const tasks: typeof storage.tasks = (filter) => {
        looks += 1;
        return storage.tasks(filter);
      };
      return { storage: { ...storage, tasks }, ...rest };
    },
  });
  const owner = await join1(hub, 'owner');
  for (const task_id of ['k.code', 'k.docs']) owner.send({ type: 'register_task', task_id });
  await owner.ping();
  looks = 0;
  expect(await cancelTask('k.code', 'no', { hub: hub.url })).toBe('k.code');
  expect(looks).toBe(0);
  expect(await cancelTask('docs', 'no', { hub: hub.url })).toBe('k.docs');
  expect(looks).toBeGreaterThan(0);
  await owner.next('task.status', ({ task_id, payload }) => task_id === 'k.docs' && payload.sub_state === 'cancelled');
  await expect(cancelTask('none', 'no', { hub: hub.url })).rejects.toMatchObject({ code: 'not_found' });
  await expect(cancelTask('k.code', 'no', { hub: hub.url })).rejects.toMatchObject({ code: 'refused' });
});
