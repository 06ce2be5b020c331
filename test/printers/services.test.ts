import { describe, expect, test } from 'vitest'
import { rowOf } from './print.ts'

const balancer = (...ingress: readonly object[]) => ({ loadBalancer: { ingress } })

/** A spec, with the status beside it. */
describe('services', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['no spec', {}, { 'External-IP': '<unknown>', 'Port(s)': '<none>', Selector: '<none>' }],
    [
      'cluster IP',
      { type: 'ClusterIP', clusterIPs: ['10.0.0.1', 'fd00::1'] },
      { 'Cluster-IP': '10.0.0.1' },
    ],
    [
      'before clusterIPs',
      { type: 'ClusterIP', clusterIP: '10.0.0.1' },
      { 'Cluster-IP': '10.0.0.1' },
    ],
    [
      'headless',
      { type: 'ClusterIP', clusterIP: 'None' },
      { 'Cluster-IP': 'None', 'External-IP': '<none>' },
    ],
    [
      'external IPs',
      { type: 'NodePort', externalIPs: ['1.1.1.1', '2.2.2.2'] },
      { 'External-IP': '1.1.1.1,2.2.2.2' },
    ],
    [
      'external name',
      { type: 'ExternalName', externalName: 'db.example.com' },
      { 'Cluster-IP': '<none>', 'External-IP': 'db.example.com' },
    ],
    ['load balancer, not there yet', { type: 'LoadBalancer' }, { 'External-IP': '<pending>' }],
    [
      'load balancer, sorted, once, names where no IP is',
      {
        type: 'LoadBalancer',
        status: balancer(
          { ip: '9.9.9.9', hostname: 'x' },
          { hostname: 'a.example.com' },
          { ip: '1.1.1.1' },
          { ip: '9.9.9.9' },
          {},
        ),
      },
      { 'External-IP': '1.1.1.1,9.9.9.9,a.example.com' },
    ],
    [
      'load balancer with external IPs after it',
      {
        type: 'LoadBalancer',
        externalIPs: ['0.0.0.1'],
        status: balancer({ ip: '1.1.1.1' }),
      },
      { 'External-IP': '1.1.1.1,0.0.0.1' },
    ],
    [
      'external IPs of a load balancer that is not there yet',
      { type: 'LoadBalancer', externalIPs: ['0.0.0.1'] },
      { 'External-IP': '0.0.0.1' },
    ],
    ['a type that is none', { type: 'Magic' }, { 'External-IP': '<unknown>' }],
    [
      'ports',
      {
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 53, nodePort: 30053, protocol: 'UDP' },
          { port: 1, nodePort: 0, protocol: 'SCTP' },
        ],
      },
      { 'Port(s)': '80/TCP,53:30053/UDP,1/SCTP' },
    ],
  ])('%s', (_, { status, ...spec }, row) => {
    expect(rowOf('services', { spec, status })).toMatchObject(row)
  })
})
