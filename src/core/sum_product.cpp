namespace hedgerow {}
