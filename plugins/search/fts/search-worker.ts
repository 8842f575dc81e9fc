import { parentPort } from 'node:worker_threads'
import { QueryExecutor } from './query-executor.ts'
import type { SearchTask } from './search-task.ts'

const answerer = new QueryExecutor()

parentPort?.on('message', (task: SearchTask) => parentPort?.postMessage(answerer.execute(task)))
parentPort?.postMessage('ready')
