/** Under which the database shows the server of server-process.ts. */
export const APPLICATION_NAME = 'measured server'
