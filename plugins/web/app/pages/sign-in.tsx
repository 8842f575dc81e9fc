import { PageTitle } from '../components/page-parts.tsx'

export const SignInPage = () => <PageTitle name="SignInPage" />
