import test from 'ava'
import { missingOptional } from './complete-lock.ts'

test('optional packages that the lock file does not name are found with the system they are for', t => {
  const packages = {
    '': { version: '0.1.0', optionalDependencies: { kept: '1.0.0' } },
    'node_modules/kept': { version: '1.0.0', optional: true },
    'node_modules/tool': {
      version: '2.0.0',
      dev: true,
      optionalDependencies: { '@tool/linux-x64': '2.0.0', '@tool/linux-x64-musl': '2.0.0', '@tool/win32-arm64-msvc': '2.0.0' },
    },
    'node_modules/@tool/linux-x64': { version: '2.0.0' },
  }
  t.deepEqual(missingOptional({ packages }), {
    'node_modules/@tool/linux-x64-musl': { version: '2.0.0', cpu: ['x64'], dev: true, libc: ['musl'], optional: true, os: ['linux'] },
    'node_modules/@tool/win32-arm64-msvc': { version: '2.0.0', cpu: ['arm64'], dev: true, optional: true, os: ['win32'] },
  } as object)
})
