import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  bucket: s.Optional(s.String({ minLength: 1, description: 'Name of the bucket. Required' })),
  createBucket: s.Boolean({ default: false, description: 'Create the bucket at startup if it does not exist' }),
  prefix: s.String({
    default: '',
    pattern: '^([A-Za-z0-9._-]+/)*$',
    description: 'Prefix of all object keys, such as `pounce/`, for a shared bucket',
  }),
  endpoint: s.Optional(
    s.String({ pattern: '^https?://', description: 'Endpoint of an S3-compatible server, such as `http://minio:9000`. Default: AWS' }),
  ),
  region: s.Optional(
    s.String({ minLength: 1, description: 'Region. Default: `AWS_REGION` or the region of the AWS profile; `us-east-1` with an endpoint' }),
  ),
  pathStyle: s.Optional(
    s.Boolean({
      description: 'Path-style addressing: the bucket is in the path of the URL, not in the host. Default: true with an endpoint',
    }),
  ),
  accessKeyId: s.Optional(
    s.String({ minLength: 1, description: 'Access key id. Default: the AWS environment (variables `AWS_…`, profile, instance role)' }),
  ),
  secretAccessKey: s.Optional(s.String({ minLength: 1, secret: true, description: 'Secret of `accessKeyId`' })),
  sessionToken: s.Optional(s.String({ minLength: 1, secret: true, description: 'Session token of a temporary `accessKeyId`' })),
  redirectAbove: s.Optional(
    s.Integer({
      minimum: 0,
      description: 'Size above which downloads are redirected to a presigned URL, in bytes. Default: never',
    }),
  ),
  publicEndpoint: s.Optional(
    s.String({ pattern: '^https?://', description: 'Endpoint that browsers can reach, for redirects. Default: `endpoint`' }),
  ),
})
export type S3Config = s.Static<typeof config>
export const Config = configPort(config)
