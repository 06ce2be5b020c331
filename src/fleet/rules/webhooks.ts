/** Admission webhooks that can block the cluster: those that must answer and cannot, or take long. */
import { count, type Fields, fields, isSet, text } from '../../printers/read-field.ts'
import type { Finding, IssueName } from '../issue.ts'
import type { Observation } from '../observation.ts'
import { nameOf, recordsIn } from '../read-object.ts'
import { isExternalName, type Services, servicesIn } from './services.ts'

const LONG_TIMEOUT_SECONDS = 15

export function webhookIssues(observation: Observation): readonly Finding[] {
  const { lists } = observation
  const services = servicesIn(observation)
  return [
    ...issuesOf('ValidatingWebhookConfiguration', lists.validatingwebhookconfigurations, services),
    ...issuesOf('MutatingWebhookConfiguration', lists.mutatingwebhookconfigurations, services),
  ]
}

function issuesOf(
  kind: string,
  configurations: readonly Fields[] = [],
  services: Services | undefined,
): readonly Finding[] {
  return configurations.flatMap((configuration) =>
    recordsIn(configuration.webhooks)
      .filter(mustAnswer)
      .flatMap((webhook) => {
        const issue = issueOf(webhook, services)
        const reason = `the webhook ${text(webhook.name)} ${issue ? REASON[issue] : ''}`
        return issue ? [{ issue, kind, namespace: '', name: nameOf(configuration), reason }] : []
      }),
  )
}

type WebhookIssue = Extract<IssueName, 'MissingService' | 'NoEndpoints' | 'HighTimeout'>

const REASON: Readonly<Record<WebhookIssue, string>> = {
  MissingService: 'must be asked, and its Service is not there',
  NoEndpoints: 'must be asked, and no ready pod is behind its Service',
  HighTimeout: `may hold a request for ${LONG_TIMEOUT_SECONDS} seconds or longer`,
}

/** A webhook of a URL is out of our sight. */
function mustAnswer({ failurePolicy, rules, clientConfig }: Fields): boolean {
  const isStrict = !isSet(failurePolicy) || failurePolicy === 'Fail'
  return isStrict && recordsIn(rules).length > 0 && isSet(fields(clientConfig).service)
}

function issueOf(webhook: Fields, services: Services | undefined): WebhookIssue | undefined {
  const { namespace, name } = fields(fields(webhook.clientConfig).service)
  // Whether it answers comes first: where that was not seen, nothing is said of how long it may take.
  if (!services) return undefined
  const service = services.find(text(namespace), text(name))
  if (!service) return 'MissingService'
  const ready = isExternalName(service) ? undefined : services.readyAddresses(service)
  if (ready === 0) return 'NoEndpoints'
  if (ready === undefined && !isExternalName(service)) return undefined
  return count(webhook.timeoutSeconds) >= LONG_TIMEOUT_SECONDS ? 'HighTimeout' : undefined
}
