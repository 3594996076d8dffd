# The verdicts of a Perl client: one line a check, for the test to read.
package Verdict;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(check meta);
our $failed = 0;

# check runs f, which returns two rising ids, or something true.
sub check {
    my ($what, $f) = @_;
    my @got = eval { $f->() };
    my $why = $@ || "@got";
    if (!$@ && ((@got == 1 && $got[0]) || (@got == 2 && 0 < $got[0] && $got[0] < $got[1]))) {
        print "ok $ENV{CLIENT} $what\n";
        return;
    }
    $why =~ s/\s+/ /g;
    print "FAIL $ENV{CLIENT} $what: $why\n";
    $failed = 1;
}

sub meta { return ",$ENV{CHECKS}," =~ /,meta,/ }

1;
