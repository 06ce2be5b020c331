import { describe, expect, test } from 'vitest'
import { rowOf } from './print.ts'

const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } })
const labelled = (labels: Record<string, string>) => ({ metadata: { labels } })

describe('nodes', () => {
  test.each<[string, Parameters<typeof rowOf>[1], Record<string, unknown>]>([
    ['ready', ready('True'), { Status: 'Ready' }],
    ['not ready', ready('False'), { Status: 'NotReady' }],
    ['not heard of', ready('Unknown'), { Status: 'NotReady' }],
    ['no condition', {}, { Status: 'Unknown', Roles: '<none>', 'Internal-IP': '<none>' }],
    [
      'cordoned',
      { ...ready('True'), spec: { unschedulable: true } },
      { Status: 'Ready,SchedulingDisabled' },
    ],
    [
      'roles by both labels, sorted and once',
      labelled({
        'node-role.kubernetes.io/worker': '',
        'node-role.kubernetes.io/control-plane': '',
        'kubernetes.io/role': 'worker',
      }),
      { Roles: 'control-plane,worker' },
    ],
    [
      'role labels without a role',
      labelled({ 'node-role.kubernetes.io/': '', 'kubernetes.io/role': '' }),
      { Roles: '<none>' },
    ],
    [
      'the first address of each type',
      {
        status: {
          addresses: [
            { type: 'Hostname', address: 'n' },
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'InternalIP', address: 'fd00::1' },
            { type: 'ExternalIP', address: '192.0.2.1' },
          ],
        },
      },
      { 'Internal-IP': '10.0.0.1', 'External-IP': '192.0.2.1' },
    ],
    [
      'unknown software',
      { status: { nodeInfo: { architecture: 'arm64' } } },
      {
        Version: '',
        'OS-Image': '<unknown>',
        'Kernel-Version': '<unknown> (arm64)',
        'Container-Runtime': '<unknown>',
      },
    ],
    [
      'no architecture',
      { status: { nodeInfo: { kernelVersion: '6.1' } } },
      { 'Kernel-Version': '6.1' },
    ],
  ])('%s', (_, object, row) => {
    expect(rowOf('nodes', object)).toMatchObject(row)
  })
})
