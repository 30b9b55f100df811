"""When things run and with which parts: definitions, jobs, automation, deployments, the command line."""
