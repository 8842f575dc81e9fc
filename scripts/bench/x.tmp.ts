import { and, collection, eq, isIn, or } from 'pounce/sdk'
import { countingIds, silent } from 'pounce/sdk/testing'
import { SqliteDocuments } from '../../plugins/documents/sqlite/sqlite-documents.ts'
import { existsSync } from 'node:fs'
const datasets = collection<any>('datasets', {
  byCreated: { on: ['state', 'created'] },
  bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces' },
  byAuthor: { on: ['state', 'author', 'created'] },
  byPublic: { on: ['state', 'isPublic', 'created'] },
})
const fresh = !existsSync('/tmp/prof-docs')
const N = () => {}
const store = new SqliteDocuments({ folder: '/tmp/prof-docs', cacheMiB: 32, maxSizeMiB: 0, inlineRows: 2000, readTimeoutMs: 30_000 }, {} as never, countingIds(), { now: () => new Date() }, silent, { count: N, gauge: N, observe: N })
await store.start(); await store.declare([datasets])
const random = (n: number) => Math.floor(Math.random() * n)
if (fresh) for (let from = 0; from < 100000; from += 1000) await store.commitEach<any>(Array.from({ length: 1000 }, (_, k) => { const n = from + k; return { change: { insert: { id: n.toString(16).padStart(24, '0'), name: 'd' + n, description: 'z'.repeat(150), state: 'live', created: new Date(1.6e12 + n * 1000).toISOString(), author: 'u' + random(1000), isPublic: random(1000) === 0, spaces: n % 2 ? ['s' + random(1000), 's' + random(1000)] : ['s' + random(1000)] }, into: datasets } } }))
const count = Number(process.argv[2] ?? 30), limit = Number(process.argv[3] ?? 12)
const run = () => store.find(datasets, { using: ['byCreated', 'bySpace', 'byAuthor', 'byPublic'], where: and(eq('state', 'live'), or(isIn('spaces', Array.from({ length: count }, () => 's' + random(1000))), eq('author', 'u' + random(1000)), eq('isPublic', true))), sort: { by: 'created', order: 'descending' }, limit })
for (let i = 0; i < 500; i++) await run()
const u0 = process.cpuUsage(); const K = 3000
const a: number[] = []
for (let i = 0; i < K; i++) { const s = performance.now(); await run(); a.push(performance.now() - s) }
const u = process.cpuUsage(u0); a.sort((x, y) => x - y)
console.log(count, limit, 'cpu per call ms', ((u.user + u.system) / 1000 / K).toFixed(3), 'p50', a[K >> 1]!.toFixed(3), 'p10', a[Math.floor(K * .1)]!.toFixed(3), 'p99', a[Math.floor(K * .99)]!.toFixed(3))
await store.dispose()
