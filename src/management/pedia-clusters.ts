/** PediaClusters of the management cluster: where they are, and as whom we write what is ours of them. */
import { CLUSTER_API_VERSION } from '../kube/pedia-cluster.ts'

export const PEDIA_CLUSTERS = `/apis/${CLUSTER_API_VERSION}/pediaclusters`
/** What stands in each, and in what refers to one. */
export const PEDIA_CLUSTER_TYPE = { apiVersion: CLUSTER_API_VERSION, kind: 'PediaCluster' } as const
export const FIELD_MANAGER = 'fleetglass'
