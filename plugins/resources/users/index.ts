import {
  Callers,
  Commands,
  CredentialRefs,
  definePlugin,
  Keys,
  NameFinders,
  on,
  PersonalDataSources,
  provide,
  RateLimiter,
  SecretEncryption,
  StartupMessages,
  Users,
} from 'pounce/sdk'
import { AccountNames } from './accounts/account-names.ts'
import { NotifyAccountOwner, NotifyAdminsOfPendingAccount } from './accounts/account-notifications.ts'
import { FirstAdmin } from './accounts/first-admin.ts'
import { PersonalAccount, PersonalIdentityLinks, PersonalKeys, PersonalSessions } from './accounts/personal-data.ts'
import { PersonalClientPreferences, preferences } from './accounts/preferences.ts'
import { RefusalPages } from './accounts/refusal-pages.ts'
import { userResource } from './accounts/resource.ts'
import * as peopleRoutes from './accounts/routes-people.ts'
import * as setUpRoutes from './accounts/routes-setup.ts'
import * as userRoutes from './accounts/routes-users.ts'
import { StoredUsers } from './accounts/stored-users.ts'
import { ChangePassword, CreateUser, ListUsers, PromoteUser } from './accounts/user-commands.ts'
import { identityLinks, keys, roles, sessions, settings, tries } from './collections.ts'
import { config } from './config.ts'
import { RevokeKeysOnUserUpdated } from './keys/api-keys.ts'
import { InstallationSecretEncryption, RotateSecret } from './keys/installation-secret.ts'
import { JobKeys } from './keys/job-keys.ts'
import { CreateKey, ListKeys, RevokeKey } from './keys/key-commands.ts'
import * as keyRoutes from './keys/routes-keys.ts'
import { ReplaceRemovedRole } from './roles/role-administration.ts'
import * as roleRoutes from './roles/routes-roles.ts'
import * as factorSignInRoutes from './second-factor/routes-factor-sign-in.ts'
import * as factorRoutes from './second-factor/routes-second-factors.ts'
import { NotifySecondFactorChanged, ResetSecondFactor } from './second-factor/second-factor-notifications.ts'
import { IdentityLinks, NotifyIdentityLinked } from './sign-in/identity-links.ts'
import { LoginThrottle } from './sign-in/login-throttle.ts'
import { LinkIdentity, UnlinkIdentity } from './sign-in/outside-accounts.ts'
import { RequestCallers, StoredCredentialRefs } from './sign-in/request-callers.ts'
import * as accountRoutes from './sign-in/routes-account.ts'
import * as sessionRoutes from './sign-in/routes-session.ts'
import * as siteRoutes from './sign-in/routes-sites.ts'
import { SweepSessions } from './sign-in/sign-in.ts'
import { EndSessionsOnUserUpdated } from './sign-in/stored-sessions.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.users',
  summary: 'Accounts, API keys, sessions and roles.',
  config,
  resources: [userResource],
  provides: [
    provide(Users, StoredUsers),
    provide(NameFinders, AccountNames),
    provide(Keys, JobKeys),
    provide(RateLimiter, LoginThrottle),
    provide(Callers, RequestCallers),
    provide(CredentialRefs, StoredCredentialRefs),
    provide(SecretEncryption, InstallationSecretEncryption),
    provide(StartupMessages, FirstAdmin),
    provide(Commands, CreateUser),
    provide(Commands, PromoteUser),
    provide(Commands, ChangePassword),
    provide(Commands, ResetSecondFactor),
    provide(Commands, LinkIdentity),
    provide(Commands, UnlinkIdentity),
    provide(Commands, ListUsers),
    provide(Commands, CreateKey),
    provide(Commands, ListKeys),
    provide(Commands, RevokeKey),
    provide(Commands, RotateSecret),
    provide(PersonalDataSources, PersonalAccount),
    provide(PersonalDataSources, PersonalIdentityLinks),
    provide(PersonalDataSources, PersonalKeys),
    provide(PersonalDataSources, PersonalSessions),
    provide(PersonalDataSources, PersonalClientPreferences),
  ],
  routes: {
    ...accountRoutes,
    ...sessionRoutes,
    ...userRoutes,
    ...peopleRoutes,
    ...factorRoutes,
    ...factorSignInRoutes,
    ...keyRoutes,
    ...roleRoutes,
    ...siteRoutes,
    ...setUpRoutes,
  },
  middleware: [{ phase: 'beforeRouting', by: RefusalPages }],
  migrations: new URL('./migrations/', import.meta.url),
  collections: [roles, keys, identityLinks, sessions, tries, settings, preferences],
  handlers: [
    on('user.linked', NotifyIdentityLinked, 'tell-linked'),
    on('user.second-factor-changed', NotifySecondFactorChanged, 'tell-of-factors'),
    on('user.link-requested', IdentityLinks, 'identity-links'),
    on('user.updated', NotifyAccountOwner, 'tell-owner'),
    on('user.updated', RevokeKeysOnUserUpdated, 'end-keys'),
    on('user.updated', EndSessionsOnUserUpdated, 'end-sessions'),
    on('user.created', NotifyAdminsOfPendingAccount, 'tell-admins'),
    on('role.removed', ReplaceRemovedRole, 'hand-over-role'),
  ],
  periodic: [{ name: 'sweep-sessions', everyMs: hourMs, task: SweepSessions }],
})
