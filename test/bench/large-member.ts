/** A member with large ConfigMaps, in a process of its own, so that its memory is not the syncer's. */
import { startMemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap } from '../support/odd-objects.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'

const [count = 0, bytes = 0] = process.argv.slice(2).map(Number)
const member = await startMemberCluster({ tokens: { t: 'reader' } })
for (let i = 0; i < count; i++) member.put(CONFIG_MAPS, hugeConfigMap(`large-${i}`, bytes))
process.send?.({ ready: [member.url] })
