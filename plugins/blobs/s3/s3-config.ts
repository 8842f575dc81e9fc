import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  bucket: s.Optional(s.String({ minLength: 1, description: 'The bucket that bytes are kept in. Needed' })),
  createBucket: s.Boolean({ default: false, description: 'Make the bucket at the start when it is not there' }),
  prefix: s.String({
    default: '',
    pattern: '^([A-Za-z0-9._-]+/)*$',
    description: 'What the names of all objects begin with, such as `pounce/`, when others use the bucket too',
  }),
  endpoint: s.Optional(s.String({ pattern: '^https?://', description: 'Address of a server other than AWS, such as `http://minio:9000`' })),
  region: s.Optional(
    s.String({ minLength: 1, description: 'Default: that of `AWS_REGION` or the AWS profile; `us-east-1` when there is an endpoint' }),
  ),
  pathStyle: s.Optional(
    s.Boolean({ description: 'Name the bucket in the path of addresses instead of the host. Default: true when there is an endpoint' }),
  ),
  accessKeyId: s.Optional(
    s.String({ minLength: 1, description: 'Default: what the AWS environment says (variables `AWS_…`, profile, role of the machine)' }),
  ),
  secretAccessKey: s.Optional(s.String({ minLength: 1, secret: true, description: 'Belongs to `accessKeyId`' })),
  sessionToken: s.Optional(s.String({ minLength: 1, secret: true, description: 'Belongs to a temporary `accessKeyId`' })),
  redirectAbove: s.Optional(
    s.Integer({
      minimum: 0,
      description: 'Downloads of more than this many bytes are redirected to a signed address of the bucket. Default: never',
    }),
  ),
  publicEndpoint: s.Optional(
    s.String({ pattern: '^https?://', description: 'Address of the server as browsers reach it, for redirects. Default: `endpoint`' }),
  ),
})
export type S3Config = s.Static<typeof config>
export const Config = configPort(config)
