import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { CommandLine } from '../components/command-line.tsx'
import { Button, TextField } from '../components/controls.tsx'
import { FormError, SubmitButton } from '../components/form-parts.tsx'
import { NewAccountFields, trimmed } from '../components/new-account-fields.tsx'
import { DotProgress, Failure, Loading, PageTitle } from '../components/page-parts.tsx'
import { ChosenReadAccess, ReadAccessChoice } from '../components/read-access.tsx'
import { ApiError, api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { makeSampleDataset } from '../lib/sample.ts'
import { changeSession, useSession } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'

/** Initial setup: from the setup link to the first dataset. */
export const WelcomePage = () => {
  const { token } = useSearch({ strict: false }) as { readonly token?: string }
  const session = useSession()
  if (!session) return <Loading />
  if (session.user) return <FirstData />
  return (
    <div className="entry">
      <PageTitle name={t('welcome.title')} />
      {token === undefined ? <NoToken isPending={session.capabilities.setupPending} /> : <FirstAccount token={token} />}
    </div>
  )
}

const NoToken = ({ isPending }: { readonly isPending: boolean }) =>
  isPending ? (
    <div className="stack">
      <p>{t('welcome.openLink')}</p>
      <p className="faded">{t('welcome.whyLink')}</p>
    </div>
  ) : (
    <div className="stack">
      <p>{t('welcome.isSetUp')}</p>
      <div className="actions">
        <Link to="/login" className="button">
          {t('signIn')}
        </Link>
      </div>
    </div>
  )

const FirstAccount = ({ token }: { readonly token: string }) => {
  const session = useSession()
  const link = useQuery({ queryKey: ['link', 'setup', token], queryFn: () => api('GET /api/setup', { query: { token } }), retry: false })
  const [email, setEmail] = useState('')
  const [account, setAccount] = useState({ firstName: '', lastName: '', password: '' })
  const [isPrivate, setPrivate] = useState<boolean>()
  const { isBusy, error, run } = useAct()
  if (link.error instanceof ApiError && link.error.status === 403)
    return <UsedLink isPending={session?.capabilities.setupPending ?? true} />
  if (link.error) return <Failure error={link.error} retry={() => void link.refetch()} />
  if (!link.data) return <Loading />
  const isChoiceRequested = link.data.private === null
  const submit = async (): Promise<void> => {
    await api('POST /api/setup', {
      body: { token, email, ...trimmed(account), ...(isChoiceRequested && isPrivate !== undefined ? { private: isPrivate } : {}) },
    })
    await api('POST /api/login', { body: { email, password: account.password } })
    await changeSession()
  }
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        void run(submit)
      }}
    >
      <p>{t('welcome.text')}</p>
      <NewAccountFields account={account} onChange={setAccount}>
        <TextField label={t('email')} type="email" autoComplete="username" value={email} onChange={setEmail} maxLength={320} isRequired />
      </NewAccountFields>
      {isChoiceRequested ? (
        <ReadAccessChoice isPrivate={isPrivate} onChange={setPrivate} />
      ) : (
        <p className="faded">
          {link.data.private ? t('readAccess.isPrivate') : t('readAccess.isPublic')}{' '}
          {t('readAccess.configured', { setting: 'access.private' })}
        </p>
      )}
      <FormError text={error} />
      <SubmitButton isBusy={isBusy}>{t('welcome.action')}</SubmitButton>
    </Form>
  )
}

const UsedLink = ({ isPending }: { readonly isPending: boolean }) => (
  <div role="alert" className="empty">
    <h2>{t('linkOver.title')}</h2>
    <p>{isPending ? t('welcome.restart') : t('welcome.isSetUp')}</p>
    {!isPending && (
      <Link to="/login" className="button">
        {t('signIn')}
      </Link>
    )}
  </div>
)

/** Creates the first dataset and sets the read access, which comes first if not chosen yet. */
const FirstData = () => {
  const session = useSession()
  const navigate = useNavigate()
  // The token has been used up, and must not stay in the history.
  useEffect(() => void navigate({ to: '/welcome', search: {} as never, replace: true }), [navigate])
  if (!session?.user) return null
  const isPending = session.capabilities.accessOrigin === 'pending'
  const access = (
    <section className="stack">
      <h2 className="section-title">{t('readAccess.title')}</h2>
      <ChosenReadAccess session={session} />
    </section>
  )
  return (
    <div className="entry">
      <PageTitle name={t('welcome.hello', { name: session.user.firstName })} />
      {isPending && access}
      {!isPending && session.user.rights.includes('CreateDataset') && <FirstDataset />}
      {!isPending && access}
      <CommandLine />
    </div>
  )
}

const FirstDataset = () => {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [progress, setProgress] = useState<{ readonly done: number; readonly total: number }>()
  const making = useAct()
  const sample = useAct()
  const open = (id: string): Promise<void> => navigate({ to: '/datasets/$id', params: { id } })
  const make = async (): Promise<void> => {
    const { id } = await api('POST /api/datasets/createempty', { body: { name: name.trim(), description: '' } })
    await open(id)
  }
  const makeSample = async (): Promise<void> => open(await makeSampleDataset((done, total) => setProgress({ done, total })))
  return (
    <section className="stack">
      <h2 className="section-title">{t('welcome.firstDataset')}</h2>
      <Form
        className="form"
        onSubmit={event => {
          event.preventDefault()
          void making.run(make)
        }}
      >
        <TextField label={t('dataset.name')} help={t('welcome.datasetHelp')} value={name} onChange={setName} maxLength={255} isRequired />
        <FormError text={making.error} />
        <SubmitButton isBusy={making.isBusy}>{t('create.dataset')}</SubmitButton>
      </Form>
      <p>{t('welcome.orSample')}</p>
      <div className="actions">
        <Button isPending={sample.isBusy} onPress={() => void sample.run(makeSample)}>
          {t('welcome.sample')}
        </Button>
      </div>
      {sample.isBusy && progress && <DotProgress {...progress} label={t('welcome.sampleProgress')} />}
      <FormError text={sample.error} />
    </section>
  )
}
