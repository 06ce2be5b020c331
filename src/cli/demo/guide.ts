/** What is printed once the demo is ready: commands to paste, each of which works as printed. */

/** Tried by test/e2e/demo.test.ts, so that none is printed that does not work. */
export const DEMO_COMMANDS: ReadonlyArray<{ readonly shows: string; readonly command: string }> = [
  { shows: 'the clusters', command: 'kubectl get pediaclusters' },
  {
    shows: 'every deployment of the fleet',
    command: 'kubectl --cluster clusterpedia get deployments -A',
  },
  {
    shows: 'what does not run',
    command:
      "kubectl --cluster clusterpedia get pods -A --field-selector='status.phase notin (Running,Succeeded)'",
  },
  {
    shows: 'one deployment, wherever it runs',
    command:
      "kubectl --cluster clusterpedia -n a-team get deployments -l 'search.clusterpedia.io/names=silly-demo'",
  },
  {
    shows: 'nodes of the production clusters',
    command:
      "kubectl --cluster clusterpedia get nodes -l 'search.clusterpedia.io/cluster-label.env=prod'",
  },
  {
    shows: 'custom resources with their own columns',
    command: 'kubectl --cluster clusterpedia -n a-team get sqlclaims',
  },
  { shows: 'what is synced from one cluster', command: 'kubectl --cluster dot-01 api-resources' },
]

export function demoGuide({ kubeconfig }: { readonly kubeconfig: string }): string {
  const commands = DEMO_COMMANDS.map(({ shows, command }) => `  # ${shows}\n  ${command}\n`)
  return [
    '',
    'All clusters are in step. In another terminal:',
    '',
    `  export KUBECONFIG=${shellWord(kubeconfig)}`,
    '',
    commands.join('\n'),
    'Ask again after a while: the clusters are alive. Ctrl-C stops everything.',
  ].join('\n')
}

/** As one word for a shell, with quotes only where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
