import { Command } from 'commander';
import { print } from '../print.ts';
import { addSourceOptions, openSource, type SourceOptions } from '../read/open-source.ts';
import { table } from '../show/table.ts';

/** `npc-crew agents`: who is on a hub, or who was in a run. */
export function agentsCommand(): Command {
  return addSourceOptions(new Command('agents'))
    .description('show who is on the hub, or who took part in a run that is over')
    .option('--json', 'one agent a line, as JSON')
    .addHelpText('after', '\nExamples:\n  $ npc-crew agents\n  $ npc-crew agents --hub ws://127.0.0.1:8765 --json')
    .action(async (options: SourceOptions & { json?: boolean }) => {
      const source = await openSource(options);
      try {
        const agents = await source.agents();
        if (options.json) for (const agent of agents) await print(JSON.stringify(agent));
        else if (agents.length === 0) await print('nobody is there');
        else {
          const rows = agents.map((agent) => [
            agent.name,
            agent.roles.join(', ') || '-',
            time(agent.connected),
            time(agent.last_seen),
            agent.tasks.join(' ') || '-',
          ]);
          for (const line of table(['NAME', 'ROLES', 'SINCE', 'LAST SEEN', 'TASKS'], rows)) await print(line);
        }
      } finally {
        await source.close();
      }
    });
}

function time(ms: number): string {
  return ms === 0 ? '-' : new Date(ms).toLocaleTimeString('en-GB');
}
