/** That nobody answers where a hub was looked for. */
export function noHubWords(host: string, why: string): string {
  return `no hub answers at ${host} (${why}); is it running? \`npc-crew hub\` starts one`;
}

/** That a hub does not let somebody in, or refuses what was asked, and how to mend it. `status` is that of HTTP, if that is where it was said. */
export function refusedWords(
  host: string,
  said: string,
  { status, hasToken }: { readonly status: number; readonly hasToken: boolean },
): string {
  const cure = 'name its file with --token-file, or set NPC_HUB_TOKEN';
  if (status === 401 && hasToken) return `the hub at ${host} has another token than the one that was given; ${cure}`;
  if (status === 401) return `the hub at ${host} asks for its token; ${cure}`;
  return `the hub at ${host} refuses: ${said}`;
}
