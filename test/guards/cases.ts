/**
 * The faults that mirrors of clusters have had, with the line that keeps each out and the test that
 * fails without it. src/README.md shows them as a table; guards.test.ts holds both together, and
 * `npm run test:guards` takes out each guard in turn.
 */

export interface Guard {
  /** Below src/. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly text: string
  /** What stands there when the guard is taken out. */
  readonly becomes: string
  readonly test: {
    /** Below test/. */
    readonly file: string
    /** As it stands in the file, and of no other test there. */
    readonly name: string
  }
}

export interface Case {
  readonly id: string
  /** What happens. */
  readonly fault: string
  /** What its tests cannot assert of rows, change log, condition and metric, and why. Left out: nothing. */
  readonly hasNo?: string
  readonly guards: readonly Guard[]
}

const FAULTS = 'sync/faults.test.ts'
const WATCHES = 'sync/watch-faults.test.ts'
const TYPES = 'sync/types.test.ts'
const LAGGING = 'sync/lagging.test.ts'
const LIFE = 'sync/cluster-life.test.ts'
const DATABASE = 'sync/database-faults.test.ts'
const CREDENTIALS = 'sync/credentials.test.ts'
const STORE = 'sync/store-faults.test.ts'
const PUT = 'store/put-objects.test.ts'
const RIGHTS = 'apiserver-access/rights.test.ts'
const AGGREGATOR = 'apiserver-access/aggregator.test.ts'

export const CASES: readonly Case[] = [
  {
    id: 'A1',
    fault: 'an object is deleted while the syncer is down',
    guards: [
      {
        file: 'store/put-objects.ts',
        text: '!end.seen.has(`${namespace}/${name}`) && !end.unseen?.has(namespace)',
        becomes: 'false',
        test: { file: FAULTS, name: 'history was compacted while the syncer was down' },
      },
    ],
  },
  {
    id: 'A2',
    fault: '410 comes as an event inside a 200 stream',
    guards: [
      {
        file: 'sync/watch-stream.ts',
        text: "if (event.type === 'ERROR') return this.#errorEvent(event.object)",
        becomes: '',
        test: { file: FAULTS, name: '410 as an event inside a 200 stream' },
      },
    ],
  },
  {
    id: 'A3',
    fault: '410 comes as an HTTP status, in odd words',
    guards: [
      {
        file: 'sync/list-watch.ts',
        text: "if (expired) return this.#relistFor('expired')",
        becomes: '',
        test: { file: FAULTS, name: '410 as a status, in odd words' },
      },
    ],
  },
  {
    id: 'A5',
    fault: 'resourceVersions go backwards, or another control plane gives them',
    guards: [
      {
        file: 'sync/list-watch.ts',
        text: 'return isNumber(now) && isNumber(ours) && BigInt(now) < BigInt(ours)',
        becomes: 'return false',
        test: { file: FAULTS, name: 'the member was restored from a backup' },
      },
      {
        file: 'sync/type-mirror.ts',
        text: 'if (!stored || (stored.controlPlaneUid && uid && stored.controlPlaneUid !== uid))',
        becomes: 'if (!stored)',
        test: { file: FAULTS, name: 'another control plane answers, and the numbers go on' },
      },
    ],
  },
  {
    id: 'A6',
    fault: 'an object is deleted and made again under its name in a gap',
    guards: [
      {
        file: 'store/write-changes.ts',
        text: "(op = 'D' or old_uid <> uid)",
        becomes: "op = 'D'",
        test: { file: FAULTS, name: 'deleted and made again in a gap' },
      },
    ],
  },
  {
    id: 'A7',
    fault: 'columns beside the object keep what an older state said',
    guards: [
      {
        file: 'store/write-changes.ts',
        text: 'created_at = excluded.created_at,\n    ',
        becomes: '\n    ',
        test: { file: WATCHES, name: 'every derived column follows an update' },
      },
    ],
  },
  {
    id: 'A9',
    fault: 'a deletion brings no more than the name',
    guards: [
      {
        file: 'sync/type-mirror.ts',
        text: 'const key = this.#keyOf(object)\n    if (!key)',
        becomes: 'const key = this.#encoded(object).row\n    if (!key)',
        test: { file: WATCHES, name: 'a deletion that brings no more than the name is one' },
      },
    ],
  },
  {
    id: 'A10',
    fault: 'a watch is dead behind a balancer, and nothing says so',
    guards: [
      {
        file: 'sync/watch-stream.ts',
        text: 'this.#timer = setTimeout(() => this.#giveUp(idle), this.#options.limits.idleMilliseconds)',
        becomes: 'void idle',
        test: { file: FAULTS, name: 'a watch that falls silent is given up, and resumed' },
      },
      {
        file: 'sync/freshness.ts',
        text: 'if (!this.#paths.get(path)?.silent) this.heard(path)',
        becomes: 'this.heard(path)',
        test: { file: LAGGING, name: 'watches that are accepted, and of which nothing comes' },
      },
      {
        file: 'sync/freshness.ts',
        text: 'if (before && this.#sendsBookmarks)',
        becomes: 'if (before)',
        test: { file: LAGGING, name: 'a type in which nothing happens is quiet' },
      },
      {
        file: 'sync/resource-syncer.ts',
        text: "if (now - waitingSince > most) return { since: waitingSince, why: 'unstored' }",
        becomes: '',
        test: { file: LAGGING, name: 'changes that wait to be stored for too long are said' },
      },
    ],
  },
  {
    id: 'A11',
    fault: 'a healthy watch is ended because it lasts long',
    guards: [
      {
        file: 'sync/watch-stream.ts',
        text: `        this.#disarm()
        for (const line of splitter.push(chunk)) {
          const relist = await this.#line(line, handlers)
          if (relist) return relist
        }
        this.#arm(idle)`,
        becomes: `        for (const line of splitter.push(chunk)) {
          const relist = await this.#line(line, handlers)
          if (relist) return relist
        }`,
        test: { file: WATCHES, name: 'a watch is not given up while anything comes of it' },
      },
    ],
  },
  {
    id: 'A12',
    fault: 'watches multiply, or a member in trouble is asked without pause',
    guards: [
      {
        file: 'sync/list-watch.ts',
        text: 'await this.#sleep(Math.max(asked, backoff.next()), signal)',
        becomes: 'await this.#sleep(1, signal)',
        test: { file: WATCHES, name: 'is asked ever less often, with one request at a time' },
      },
    ],
  },
  {
    id: 'A14',
    fault: 'a reconnect looks like a change of everything',
    guards: [
      {
        file: 'store/write-changes.ts',
        text: `else o.uid is null or (o.uid, o.resource_version, o.api_version, o.columns_id)
        is distinct from (i.uid, i.resource_version, i.api_version, $4) end as differs`,
        becomes: 'else true end as differs',
        test: { file: FAULTS, name: 'a line that cannot be read' },
      },
    ],
  },
  {
    id: 'A15',
    fault: 'bookmarks are ignored, or stored as objects',
    guards: [
      {
        file: 'sync/watch-stream.ts',
        text: "if (event.type !== 'BOOKMARK') await handlers.event(event)",
        becomes: 'await handlers.event(event)',
        test: { file: FAULTS, name: 'bookmarks move the position, and make no row' },
      },
      {
        file: 'sync/watch-stream.ts',
        text: "if (version !== '') handlers.advance(version)",
        becomes: "if (version !== '' && event.type !== 'BOOKMARK') handlers.advance(version)",
        test: { file: FAULTS, name: 'bookmarks move the position, and make no row' },
      },
    ],
  },
  {
    id: 'A17',
    fault: 'the watch cache of an API server loses a deletion',
    guards: [
      {
        file: 'sync/reconcile-type.ts',
        text: 'differing.set(key, row)',
        becomes: '',
        test: {
          file: 'sync/reconcile.test.ts',
          name: 'a deletion that the watch lost is found when somebody asks',
        },
      },
      {
        file: 'sync/reconcile-type.ts',
        text: ', fromStorage: true }',
        becomes: ' }',
        test: {
          file: 'sync/reconcile.test.ts',
          name: 'a deletion that the watch cache lost is found, although',
        },
      },
      {
        file: 'sync/list-watch.ts',
        text: "fromStorage: cause === 'reconciled',",
        becomes: '',
        test: {
          file: 'sync/reconcile.test.ts',
          name: 'a deletion that the watch cache lost is found, although',
        },
      },
    ],
  },
  {
    id: 'A18',
    fault: 'every restart or flap lists everything again',
    guards: [
      {
        file: 'sync/type-mirror.ts',
        text: 'return stored.resourceVersion\n',
        becomes: 'return undefined\n',
        test: { file: FAULTS, name: 'the syncer was down meanwhile' },
      },
      {
        file: 'sync/list-watch.ts',
        text: "const expired = error instanceof MemberError && error.failure === 'expired'",
        becomes: 'const expired = error instanceof MemberError',
        test: { file: FAULTS, name: 'the network is away for a while' },
      },
    ],
  },
  {
    id: 'A20',
    fault: 'a namespace is deleted and made again at once',
    guards: [
      {
        file: 'sync/type-mirror.ts',
        text: "await this.#queue.put({ op: 'delete', key })",
        becomes: '',
        test: { file: WATCHES, name: 'a namespace is deleted with all that is in it' },
      },
    ],
  },
  {
    id: 'B1',
    fault: 'a custom resource definition is deleted',
    guards: [
      {
        file: 'sync/type-set.ts',
        text: 'await removeClusterResource(services.store, lease, stored.typeId)',
        becomes: 'void [services.store, lease]',
        test: { file: TYPES, name: 'come and go with their definition' },
      },
    ],
  },
  {
    id: 'B2',
    fault: 'a custom resource definition changes its columns',
    guards: [
      {
        file: 'sync/type-set.ts',
        text: 'const columns = wanted.columnsOf(info)',
        becomes: "const columns = ''",
        test: { file: TYPES, name: 'print what their definition says after it changed' },
      },
    ],
  },
  {
    id: 'B3',
    fault: 'a conversion webhook is broken: one type always answers 500',
    guards: [
      {
        file: 'sync/list-watch.ts',
        text: 'if (!hiccup) this.#options.sink.failed(error)',
        becomes: 'void hiccup',
        test: { file: FAULTS, name: '500 for ever' },
      },
      {
        file: 'sync/cluster-status.ts',
        text: ' && !isHopeless(state))',
        becomes: ')',
        test: { file: FAULTS, name: '500 for ever' },
      },
    ],
  },
  {
    id: 'B4',
    fault: 'a group behind the aggregator is down: discovery has a gap',
    guards: [
      {
        file: 'sync/known-types.ts',
        text: 'this.#byVersion.set(apiVersion, infos)',
        becomes: '',
        test: { file: TYPES, name: 'a broken group keeps its types' },
      },
      {
        file: 'sync/known-types.ts',
        text: 'if (!known.has(info.resource)) known.set(info.resource, info)',
        becomes: 'known.set(`${info.resource} ${known.size}`, info)',
        test: {
          file: 'sync/discovery-faults.test.ts',
          name: 'groups, versions and resources twice',
        },
      },
      {
        file: 'sync/discover.ts',
        text: 'if (core.resources.length === 0 && core.broken.size === 0) {',
        becomes: 'if (core.resources.length < 0) {',
        test: { file: 'sync/discovery-faults.test.ts', name: 'nothing at all, as of a proxy' },
      },
    ],
  },
  {
    id: 'B6',
    fault: 'a type moves to another group or version',
    guards: [
      {
        file: 'sync/sync-list.ts',
        text: 'const key = keyOf(storedAs(info))',
        becomes: 'const key = keyOf(info)',
        test: {
          file: 'sync/sync-list.test.ts',
          name: 'all of all groups: each type once, by its home group and newest version',
        },
      },
      {
        file: 'sync/sync-list.ts',
        text: 'const type = storedAs(infos[0]!)',
        becomes: 'const type = infos[0]!',
        test: { file: TYPES, name: 'a type that moves to another group stays one type' },
      },
    ],
  },
  {
    id: 'B8',
    fault: 'thousands of custom resource definitions',
    guards: [
      {
        file: 'sync/watch-turns.ts',
        text: 'if (this.#holders.size >= this.#places) await this.#wait(signal)',
        becomes: '',
        test: { file: 'sync/many-types.test.ts', name: 'forty types share five watches' },
      },
      {
        file: 'sync/status-writer.ts',
        text: 'if (ofCluster(status) !== ofCluster(this.#written)) return 0',
        becomes: 'return ofCluster(undefined).length * 0',
        test: {
          file: 'sync/many-types.test.ts',
          name: 'the status of hundreds of types is written',
        },
      },
    ],
  },
  {
    id: 'B9',
    fault: 'items of a list have neither kind nor apiVersion',
    guards: [
      {
        file: 'sync/encode-object.ts',
        text: 'if (!range) missing.push(`"${key}":${parts[key]}`)',
        becomes: 'if (!range) continue',
        test: {
          file: 'sync/mirror.test.ts',
          name: 'all its objects, over several pages, byte for byte',
        },
      },
    ],
  },
  {
    id: 'B10',
    fault: 'fields that we do not know are dropped',
    guards: [
      {
        file: 'sync/encode-object.ts',
        text: 'return encode(bytes, scanner.scan(bytes), parts)',
        becomes: `const { kind, apiVersion, metadata, data, spec, status } = JSON.parse(bytes.toString())
      const known = Buffer.from(JSON.stringify({ kind, apiVersion, metadata, data, spec, status }))
      return encode(known, scanner.scan(known), parts)`,
        test: {
          file: 'sync/mirror.test.ts',
          name: 'all its objects, over several pages, byte for byte',
        },
      },
    ],
  },
  {
    id: 'B12',
    fault: 'a wildcard takes in subresources',
    guards: [
      {
        file: 'sync/read-discovery.ts',
        text: '/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/',
        becomes: '/^[a-z0-9]/',
        test: { file: STORE, name: 'a wildcard takes in no subresource' },
      },
    ],
  },
  {
    id: 'B13',
    fault: 'an old hub asks for OpenAPI v2',
    hasNo: 'row, log, condition, metric: it is an answer',
    guards: [
      {
        file: 'apiserver/openapi/plugin.ts',
        text: "routes.get('/openapi/v2', async",
        becomes: "routes.get('/openapi/none', async",
        test: {
          file: 'apiserver-openapi/openapi.test.ts',
          name: 'comes in JSON, with the recorded definitions',
        },
      },
    ],
  },
  {
    id: 'D1',
    fault: 'NUL, and what else PostgreSQL cannot hold, fails a whole batch',
    guards: [
      {
        file: 'store/put-objects.ts',
        text: 'if (!isRefusal(error)) throw error',
        becomes: 'throw error',
        test: { file: DATABASE, name: 'one that the database cannot hold is refused alone' },
      },
    ],
  },
  {
    id: 'D2',
    fault: 'an escaped backslash before u0000 is taken for NUL',
    guards: [
      {
        file: 'sync/encode-object.ts',
        text: 'const whole = applyEdits(bytes, edits)',
        becomes:
          "const whole = Buffer.from(applyEdits(bytes, edits).toString().replaceAll('\\\\u0000', ''))",
        test: { file: DATABASE, name: 'odd spellings, large values and many labels' },
      },
    ],
  },
  {
    id: 'D4',
    fault: 'integers above 2^53 are rounded',
    guards: [
      {
        file: 'sync/parse-lossless.ts',
        text: 'if (!bigNumbers) return JSON.parse(text)',
        becomes: 'if (text) return JSON.parse(text)',
        test: { file: STORE, name: 'integers above 2^53 keep their digits' },
      },
    ],
  },
  {
    id: 'D5',
    fault: 'numbers are spelled anew: 1.0, 1e3, -0',
    guards: [
      {
        file: 'sync/encode-object.ts',
        text: 'tail: whole.subarray(tailStart),',
        becomes:
          'tail: Buffer.from(`,${JSON.stringify(JSON.parse(`{"x":0${whole.subarray(tailStart)}`)).slice(7)}`),',
        test: { file: DATABASE, name: 'odd spellings, large values and many labels' },
      },
    ],
  },
  {
    id: 'D7',
    fault: 'a character, a line or its end is cut in two by the network',
    guards: [
      {
        file: 'sync/watch-lines.ts',
        text: 'Buffer.concat(this.#parts)',
        becomes: "Buffer.from(this.#parts.map(String).join(''))",
        test: { file: FAULTS, name: 'a character cut in two, and lines that end in CRLF' },
      },
    ],
  },
  {
    id: 'D8',
    fault: 'one answer holds a whole cluster',
    guards: [
      {
        file: 'sync/list-pages.ts',
        text: '...(pageItems > 0 && { limit: String(pageItems) }),',
        becomes: '',
        test: {
          file: 'sync/mirror.test.ts',
          name: 'all its objects, over several pages, byte for byte',
        },
      },
    ],
  },
  {
    id: 'D9',
    fault: 'large objects fill the memory',
    guards: [
      {
        file: 'sync/change-queue.ts',
        text: 'await this.#options.budget.take(bytes, this.#options.signal)',
        becomes: 'void this.#options.budget.take(bytes, this.#options.signal)',
        test: { file: DATABASE, name: 'while the database takes nothing, so many bytes wait' },
      },
    ],
  },
  {
    id: 'D10',
    fault: 'a value is too large for a row of an index',
    guards: [
      {
        file: 'store/write-one-by-one.ts',
        text: '/^(22|23|54)/',
        becomes: '/^(22|23)/',
        test: { file: DATABASE, name: 'one that the database cannot hold is refused alone' },
      },
    ],
  },
  {
    id: 'D11',
    fault: 'a batch has more values than a statement has parameters',
    hasNo: 'condition, metric in one statement; over HTTP: `store-faults`',
    guards: [
      {
        file: 'store/encode-changes.ts',
        text: '[1, 0, elementOid, changes.length, 1]',
        becomes: '[1, 0, elementOid, Math.min(changes.length, Math.floor(65_535 / FIELDS)), 1]',
        test: { file: PUT, name: 'of seven thousand changes is one parameter' },
      },
    ],
  },
  {
    id: 'D13',
    fault: 'two transactions lock the same rows crosswise',
    guards: [
      {
        file: 'store/retry.ts',
        text: "new Set(['40001', '40P01'])",
        becomes: "new Set(['40001'])",
        test: { file: STORE, name: 'a deadlock with another transaction is no failure' },
      },
    ],
  },
  {
    id: 'D14',
    fault: 'numbers of a sequence are taken for a change log: gaps, and commits out of order',
    guards: [
      {
        file: 'store/sequencer.ts',
        text: 'set latest = (select max(last_revision) from stamped)',
        becomes: 'set latest = (select max(last_revision) + 1 from stamped)',
        test: { file: STORE, name: 'commits out of order and one that is rolled back' },
      },
    ],
  },
  {
    id: 'D16',
    fault: 'who waits for a lock takes the connections of everybody',
    guards: [
      {
        file: 'store/connect.ts',
        text: 'const writers = pools.open(WRITERS)',
        becomes: 'const writers = WRITERS ? pool : pool',
        test: { file: STORE, name: 'writes that wait for a lock leave connections' },
      },
    ],
  },
  {
    id: 'D18',
    fault: 'an outage or a crash of the database loses events',
    guards: [
      {
        file: 'sync/object-writer.ts',
        text: 'if (error instanceof LeaseLost || signal.aborted) throw error',
        becomes: 'if (error) return { refused: [] } as T',
        test: { file: LIFE, name: 'the database is away for a while: no event is lost' },
      },
      {
        file: 'store/leases.ts',
        text: 'if (lastSeq < lease.log.lastSeq) throw new StoreWentBack(lease)',
        becomes: '',
        test: {
          file: 'store/leases.test.ts',
          name: 'nor who finds that the database lost what was written last',
        },
      },
      {
        file: 'store/leases.ts',
        text: 'if (rows[0] && BigInt(rows[0].last_seq) < known) throw new StoreWentBack(lease)',
        becomes: 'void known',
        test: {
          file: 'store/leases.test.ts',
          name: 'nor renews the lease who finds that',
        },
      },
    ],
  },
  {
    id: 'D19',
    fault: 'long transactions and needless writes: bloat, and a log that grows',
    guards: [
      {
        file: 'store/connect.ts',
        text: 'idle_in_transaction_session_timeout: 15_000,',
        becomes: '',
        test: { file: STORE, name: 'a transaction that nobody goes on with is ended' },
      },
    ],
  },
  {
    id: 'D20',
    fault: 'two processes sync one cluster',
    hasNo: 'condition, metric in one transaction; over HTTP: `store-faults`, `two-syncers`',
    guards: [
      {
        file: 'store/leases.ts',
        text: 'where cluster_id = $1 and holder = $2 and epoch = $3 for update',
        becomes: 'where cluster_id = $1 and $2::text is not null and $3::int8 > 0 for update',
        test: { file: 'store/leases.test.ts', name: 'no end of a list' },
      },
      {
        file: 'registration/database-source.ts',
        text: 'await checkLease(writer.transaction, lease)',
        becomes: 'void [checkLease, lease]',
        test: {
          file: 'registration/source.test.ts',
          name: 'a status is not written by who slept through the lease',
        },
      },
    ],
  },
  {
    id: 'D21',
    fault: 'objects are told apart by their name alone',
    guards: [
      {
        file: 'sync/type-mirror.ts',
        text: 'const key = `${row.namespace}/${row.name}`',
        becomes: 'const key = row.name',
        test: { file: WATCHES, name: 'one name in several namespaces is several objects' },
      },
    ],
  },
  {
    id: 'D22',
    fault: 'a name matches what begins with it: ns1 and ns11, eu and eu-west',
    hasNo: 'log, condition, metric where it is read; where it is mirrored: `store-faults`',
    guards: [
      {
        file: 'store/scope-filter.ts',
        text: 'sql` and o.namespace = any (${textArray(namespaces.filter(isStorable))})`',
        becomes:
          'sql` and o.namespace like any (${textArray(namespaces.filter(isStorable).map((one) => `${one}%`))})`',
        test: {
          file: 'store/conditions.test.ts',
          name: 'names that begin alike are not each other',
        },
      },
    ],
  },
  {
    id: 'E1',
    fault: 'a token is rotated: health is green, and the sync is dead',
    guards: [
      {
        file: 'sync/cluster-syncer.ts',
        text: 'if (this.#session && key !== this.#sessionKey) await this.#endSession()',
        becomes: 'void key',
        test: { file: LIFE, name: 'a revoked token shows, a new one is taken' },
      },
      {
        file: 'sync/member-client.ts',
        text: 'if (first.statusCode !== 401 || !this.#access.renew()) return first',
        becomes: 'if (first) return first',
        test: {
          file: CREDENTIALS,
          name: 'a token file that was rotated is read again after a 401',
        },
      },
    ],
  },
  {
    id: 'E2',
    fault: 'credential plugins that expire, refuse, or hang',
    hasNo: 'row, log: it is about one request',
    guards: [
      {
        file: 'sync/exec-plugin.ts',
        text: 'if (!known || known.expiresAt - EARLY_MILLISECONDS <= Date.now()) {',
        becomes: 'if (!known) {',
        test: { file: CREDENTIALS, name: 'a program runs again when its credential has expired' },
      },
      {
        file: 'sync/exec-plugin.ts',
        text: 'timeout: timeoutMilliseconds,',
        becomes: '',
        test: { file: CREDENTIALS, name: 'a program that hangs is ended, and holds nobody up' },
      },
    ],
  },
  {
    id: 'E3',
    fault: 'certificates are renewed, or expire',
    hasNo: 'row, log: nothing is mirrored',
    guards: [
      {
        file: 'sync/cluster-health.ts',
        text: 'throw (await expiredCertificate(access, error)) ?? error',
        becomes: 'throw error',
        test: { file: LIFE, name: 'an expired certificate is named with its day' },
      },
    ],
  },
  {
    id: 'E5',
    fault: 'a cluster is removed while it cannot be reached',
    guards: [
      {
        file: 'store/clusters.ts',
        text: '.set({ removed_at: sql<Date>`clock_timestamp()` })',
        becomes: '.set({ removed_at: null })',
        test: { file: LIFE, name: 'an unreachable cluster is gone at once' },
      },
    ],
  },
  {
    id: 'E8',
    fault: 'a template that several clusters share changes, or goes',
    guards: [
      {
        file: 'sync/fleet-syncer.ts',
        text: 'known.update(registration)',
        becomes: '',
        test: { file: LIFE, name: 'a template that several clusters share reaches each' },
      },
      {
        file: 'sync/member-session.ts',
        text: 'config.incomplete || known.mayServe',
        becomes: 'known.mayServe',
        test: { file: LIFE, name: 'a template that several clusters share reaches each' },
      },
    ],
  },
  {
    id: 'E10',
    fault: 'credentials change often: connections and watches are left behind',
    guards: [
      {
        file: 'sync/member-session.ts',
        text: 'await this.#client.close()',
        becomes: '',
        test: { file: LIFE, name: 'credentials that change often leave no connection' },
      },
    ],
  },
  {
    id: 'E11',
    fault: 'a reader sees what they may not',
    hasNo: 'log, condition, metric: reading changes nothing',
    guards: [
      {
        file: 'apiserver/access/scope.ts',
        text: "if (rules.some(coversEveryNamespace)) return 'every-namespace'",
        becomes: "return 'every-namespace'",
        test: { file: RIGHTS, name: 'is listed theirs, whatever is asked' },
      },
      {
        file: 'apiserver/access/authentication/request-header.ts',
        text: '!current || !isProxy(credentials, current, clock.now())',
        becomes: '!current',
        test: { file: AGGREGATOR, name: 'with the certificate of a user, they are that user' },
      },
    ],
  },
  {
    id: 'E12',
    fault: 'a sweep or a comparison takes what it could not see for well',
    hasNo: 'rows, change log, condition, metric: reading changes nothing',
    guards: [
      {
        file: 'fleet/live-source.ts',
        text: 'seen.causes.set(resource, causeOf(error, deadline))',
        becomes: '',
        test: {
          file: 'fleet/live.test.ts',
          name: 'E12 a cluster that hangs, one that refuses and one that sends half a list: none is healthy',
        },
      },
      {
        file: 'drift/api-source.ts',
        text: "if (!Array.isArray(items)) throw new ApiFailure('the answer is no list')",
        becomes: 'if (!Array.isArray(items)) return []',
        test: {
          file: 'drift/api-source.test.ts',
          name: 'an answer about one cluster that cannot be used makes that cluster unknown, and no other',
        },
      },
    ],
  },
  {
    id: 'E14',
    fault: 'clusters differ by nature, or are not here yet, and that is called drift',
    hasNo: 'rows, change log, condition, metric: reading changes nothing',
    guards: [
      {
        file: 'drift/schemas-digest.ts',
        text: '.sort(([a], [b]) => compareBytes(a, b))',
        becomes: '',
        test: {
          file: 'drift/noise.test.ts',
          name: 'the same definition is no drift: other keys’ order, other spelling, other server',
        },
      },
      {
        file: 'drift/gather.ts',
        text: 'problems.get(name) ?? { crds: shapes.get(name) ?? [] }',
        becomes: '({ crds: shapes.get(name) ?? [] })',
        test: {
          file: 'drift/noise.test.ts',
          name: 'missing is not different, and a cluster that is not here yet lacks nothing',
        },
      },
    ],
  },
]
