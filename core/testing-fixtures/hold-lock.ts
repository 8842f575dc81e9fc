import { lockDataFolder } from '../data-lock.ts'

await lockDataFolder(process.argv[2] ?? '')
process.stdout.write('held\n')
setInterval(() => undefined, 60_000)
