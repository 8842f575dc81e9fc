import { configPort, s } from 'pounce/sdk'

const limit = (what: string) => s.Integer({ default: 0, minimum: 0, description: `${what}; 0: no limit` })

export const config = s.Object({
  maxBytesPerPerson: limit('Maximum size of the files of one user, in bytes'),
  maxFilesPerPerson: limit('Maximum number of files of one user'),
  maxBytesPerSpace: limit('Maximum size of the files in one space, in bytes'),
  maxFilesPerSpace: limit('Maximum number of files in one space'),
  countAlways: s.Boolean({
    default: false,
    description: 'Count the storage of users and spaces even if no limit is set here, so that individual limits apply',
  }),
})
export type Settings = s.Static<typeof config>
export const Config = configPort(config)
