(* The draw of docs/explanation/draw.md: one of n candidates with probability w i / (w 0 + ... + w (n - 1)), exactly.

   S_i is `sum i w`, the total `sum n w`; candidates are counted from 0, so candidate i has the share of [0, 1) from
   S_i to S_(i+1), divided by the total. *)

From Coq Require Import Reals Lra Lia.
From Discreet Require Import Sums.
Open Scope R_scope.

Definition positive (n : nat) (w : nat -> R) : Prop := forall i, (i < n)%nat -> 0 < w i.

(* The uniform number v falls on candidate i. *)
Definition falls (n : nat) (w : nat -> R) (v : R) (i : nat) : Prop :=
  (i < n)%nat /\ sum i w <= v * sum n w < sum (S i) w.

(* All that is known of v after its first k bits, which are the integer m. *)
Definition known (m k : nat) (v : R) : Prop := INR m <= 2 ^ k * v < INR m + 1.

(* Intervals around S_0, ..., S_n; the same one stands for the total wherever that is used. *)
Definition encloses (n : nat) (w lo hi : nat -> R) : Prop :=
  forall j, (j <= n)%nat -> lo j <= sum j w <= hi j.

Definition within (n : nat) (w lo hi : nat -> R) (r : R) : Prop :=
  forall j, (j <= n)%nat -> sum j w - r <= lo j /\ hi j <= sum j w + r.

(* The certificate in balls: each comparison holds for all numbers in the intervals. *)
Definition certificate (n : nat) (lo hi : nat -> R) (m k i : nat) : Prop :=
  (i < n)%nat /\
  (i = 0%nat \/ hi i * 2 ^ k <= INR m * lo n) /\
  (S i = n \/ (INR m + 1) * hi n <= lo (S i) * 2 ^ k).

Lemma power_positive : forall k, 0 < 2 ^ k.
Proof. intros k. apply pow_lt. lra. Qed.

Lemma total_positive : forall n w, (0 < n)%nat -> positive n w -> 0 < sum n w.
Proof. intros n w some pos. apply sum_positive; assumption. Qed.

Lemma ends_increase :
  forall n w i j, positive n w -> (i <= j <= n)%nat -> sum i w <= sum j w.
Proof.
  intros n w i j pos between. apply sum_mono; [lia|].
  intros k below. left. apply pos. lia.
Qed.

(* ---- One candidate, and its share ---- *)

Theorem falls_exists :
  forall n w v, positive n w -> (0 < n)%nat -> 0 <= v < 1 -> exists i, falls n w v i.
Proof.
  intros n w v pos some [v0 v1].
  pose proof (total_positive n w some pos) as total.
  assert (below : v * sum n w < sum n w).
  { assert (0 < (1 - v) * sum n w) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (above : 0 <= v * sum n w) by (apply Rmult_le_pos; lra).
  assert (search : forall k, (k <= n)%nat -> v * sum n w < sum k w ->
            exists i, (i < k)%nat /\ sum i w <= v * sum n w < sum (S i) w).
  { induction k as [|k IH]; intros le lt; [cbn [sum] in lt; lra|].
    destruct (Rlt_le_dec (v * sum n w) (sum k w)) as [earlier|here].
    - destruct (IH ltac:(lia) earlier) as [i [lti both]]. exists i. split; [lia|exact both].
    - exists k. split; [lia|]. split; [exact here|exact lt]. }
  destruct (search n (le_n n) below) as [i [lti both]]. exists i. split; assumption.
Qed.

Theorem falls_unique :
  forall n w v i j, positive n w -> falls n w v i -> falls n w v j -> i = j.
Proof.
  intros n w v i j pos [lti [lowi highi]] [ltj [lowj highj]].
  destruct (Nat.lt_trichotomy i j) as [less|[same|more]]; [|exact same|].
  - pose proof (ends_increase n w (S i) j pos ltac:(lia)). lra.
  - pose proof (ends_increase n w (S j) i pos ltac:(lia)). lra.
Qed.

(* The numbers that fall on i are an interval inside [0, 1] whose length is w i / total. *)
Theorem share :
  forall n w i, positive n w -> (i < n)%nat ->
    let from := sum i w / sum n w in
    let upto := sum (S i) w / sum n w in
    (forall v, falls n w v i <-> from <= v < upto) /\
    upto - from = w i / sum n w /\ 0 <= from /\ upto <= 1.
Proof.
  intros n w i pos lt from upto.
  pose proof (total_positive n w ltac:(lia) pos) as total.
  assert (back : forall x, x / sum n w * sum n w = x) by (intros; field; lra).
  split; [intros v; split|split; [|split]].
  - intros [_ [low high]]. split.
    + apply Rmult_le_reg_r with (sum n w); [lra|]. unfold from. rewrite back. exact low.
    + apply Rmult_lt_reg_r with (sum n w); [lra|]. unfold upto. rewrite back. exact high.
  - intros [low high]. split; [exact lt|]. split.
    + rewrite <- (back (sum i w)). apply Rmult_le_compat_r; [lra|exact low].
    + rewrite <- (back (sum (S i) w)). apply Rmult_lt_compat_r; [lra|exact high].
  - unfold from, upto. cbn [sum]. field. lra.
  - unfold from. apply Rmult_le_reg_r with (sum n w); [lra|]. rewrite back, Rmult_0_l.
    pose proof (ends_increase n w 0 i pos ltac:(lia)) as first. cbn [sum] in first. exact first.
  - unfold upto. apply Rmult_le_reg_r with (sum n w); [lra|]. rewrite back, Rmult_1_l.
    apply (ends_increase n w (S i) n pos). lia.
Qed.

(* ---- The certificate in balls ---- *)

Theorem certificate_sound :
  forall n w lo hi v m k i,
    positive n w -> encloses n w lo hi -> 0 <= v < 1 -> known m k v ->
    certificate n lo hi m k i -> falls n w v i.
Proof.
  intros n w lo hi v m k i pos enc [v0 v1] [below above] [lt [after before]].
  pose proof (total_positive n w ltac:(lia) pos) as total.
  pose proof (power_positive k) as power.
  destruct (enc n (le_n n)) as [lon hin].
  pose proof (pos_INR m) as m0.
  split; [exact lt|split].
  - destruct after as [first|after].
    + subst i. cbn [sum]. apply Rmult_le_pos; lra.
    + destruct (enc i ltac:(lia)) as [loi hii].
      apply Rmult_le_reg_l with (2 ^ k); [exact power|].
      assert (2 ^ k * sum i w <= hi i * 2 ^ k)
        by (rewrite Rmult_comm; apply Rmult_le_compat_r; lra).
      assert (INR m * lo n <= INR m * sum n w) by (apply Rmult_le_compat_l; lra).
      assert (INR m * sum n w <= 2 ^ k * v * sum n w) by (apply Rmult_le_compat_r; lra).
      lra.
  - destruct before as [last|before].
    + rewrite last. assert (0 < (1 - v) * sum n w) by (apply Rmult_lt_0_compat; lra). lra.
    + destruct (enc (S i) ltac:(lia)) as [loi hii].
      apply Rmult_lt_reg_l with (2 ^ k); [exact power|].
      assert (lo (S i) * 2 ^ k <= 2 ^ k * sum (S i) w)
        by (rewrite (Rmult_comm (2 ^ k)); apply Rmult_le_compat_r; lra).
      assert ((INR m + 1) * sum n w <= (INR m + 1) * hi n) by (apply Rmult_le_compat_l; lra).
      assert (2 ^ k * v * sum n w < (INR m + 1) * sum n w) by (apply Rmult_lt_compat_r; lra).
      lra.
Qed.

(* ---- The search ends ---- *)

Lemma certificate_of_distance :
  forall n w lo hi v m k i r d,
    positive n w -> encloses n w lo hi -> within n w lo hi r ->
    0 <= v < 1 -> known m k v -> (i < n)%nat ->
    0 <= r <= sum n w -> 2 * r + 2 * sum n w / 2 ^ k <= d ->
    (i = 0%nat \/ sum i w + d <= v * sum n w) ->
    (S i = n \/ v * sum n w + d <= sum (S i) w) ->
    certificate n lo hi m k i.
Proof.
  intros n w lo hi v m k i r d pos enc near [v0 v1] [below above] lt [r0 rz] small after before.
  pose proof (total_positive n w ltac:(lia) pos) as total.
  pose proof (power_positive k) as power.
  destruct (near n (le_n n)) as [lon hin].
  pose proof (pos_INR m) as m0.
  unfold certificate. set (p := 2 ^ k) in *. set (z := sum n w) in *.
  assert (scaled : 2 * r * p + 2 * z <= d * p).
  { assert (step : (2 * r + 2 * z / p) * p <= d * p) by (apply Rmult_le_compat_r; lra).
    replace ((2 * r + 2 * z / p) * p) with (2 * r * p + 2 * z) in step by (field; lra). exact step. }
  split; [exact lt|split].
  - destruct after as [first|after]; [left; exact first|right].
    destruct (near i ltac:(lia)) as [_ hii].
    assert (hi i * p <= (sum i w + r) * p) by (apply Rmult_le_compat_r; lra).
    assert ((sum i w + d) * p <= v * z * p) by (apply Rmult_le_compat_r; lra).
    assert (INR m * (z - r) <= INR m * lo n) by (apply Rmult_le_compat_l; lra).
    assert ((p * v - 1) * (z - r) <= INR m * (z - r)) by (apply Rmult_le_compat_r; lra).
    assert (p * v * r <= p * 1 * r)
      by (apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra).
    lra.
  - destruct before as [last|before]; [left; exact last|right].
    destruct (near (S i) ltac:(lia)) as [loi _].
    assert ((sum (S i) w - r) * p <= lo (S i) * p) by (apply Rmult_le_compat_r; lra).
    assert ((v * z + d) * p <= sum (S i) w * p) by (apply Rmult_le_compat_r; lra).
    assert ((INR m + 1) * hi n <= (INR m + 1) * (z + r)) by (apply Rmult_le_compat_l; lra).
    assert ((INR m + 1) * (z + r) <= (p * v + 1) * (z + r)) by (apply Rmult_le_compat_r; lra).
    assert (p * v * r <= p * 1 * r)
      by (apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra).
    lra.
Qed.

Lemma small_power : forall e, 0 < e -> exists K, forall k, (K <= k)%nat -> / 2 ^ k < e.
Proof.
  intros e pos.
  destruct (cv_pow_half 1 e pos) as [K far]. exists K. intros k le.
  specialize (far k le). unfold R_dist in far.
  rewrite Rminus_0_r, Rabs_right in far.
  - unfold Rdiv in far. rewrite Rmult_1_l in far. exact far.
  - unfold Rdiv. rewrite Rmult_1_l. apply Rle_ge. left. apply Rinv_0_lt_compat, power_positive.
Qed.

(* A number that is no inner boundary is settled by every enclosure that is narrow enough, with bits enough. *)
Theorem refinement_ends :
  forall n w v,
    positive n w -> (0 < n)%nat -> 0 <= v < 1 ->
    (forall j, (0 < j < n)%nat -> v * sum n w <> sum j w) ->
    exists i r K,
      falls n w v i /\ 0 < r /\
      forall lo hi m k,
        encloses n w lo hi -> within n w lo hi r -> (K <= k)%nat -> known m k v ->
        certificate n lo hi m k i.
Proof.
  intros n w v pos some v01 apart.
  pose proof (total_positive n w some pos) as total.
  destruct (falls_exists n w v pos some v01) as [i [lt [low high]]].
  pose (below := if Nat.eq_dec i 0 then 1 else v * sum n w - sum i w).
  pose (above := sum (S i) w - v * sum n w).
  assert (below0 : 0 < below).
  { unfold below. destruct (Nat.eq_dec i 0); [lra|].
    specialize (apart i ltac:(lia)). lra. }
  assert (above0 : 0 < above) by (unfold above; lra).
  pose (d := Rmin below above).
  assert (d0 : 0 < d) by (apply Rmin_pos; assumption).
  pose (r := Rmin (d / 4) (sum n w)).
  assert (r0 : 0 < r) by (apply Rmin_pos; lra).
  destruct (small_power (d / (4 * sum n w))) as [K far].
  { apply Rdiv_lt_0_compat; lra. }
  exists i, r, K. split; [split; [exact lt|split; assumption]|]. split; [exact r0|].
  intros lo hi m k enc near le word.
  assert (rd : r <= d / 4) by apply Rmin_l.
  assert (rz : r <= sum n w) by apply Rmin_r.
  assert (dbelow : d <= below) by apply Rmin_l.
  assert (dabove : d <= above) by apply Rmin_r.
  assert (tiny : 2 * sum n w / 2 ^ k <= d / 2).
  { specialize (far k le).
    assert (step : 2 * sum n w * / 2 ^ k <= 2 * sum n w * (d / (4 * sum n w)))
      by (apply Rmult_le_compat_l; lra).
    replace (2 * sum n w * (d / (4 * sum n w))) with (d / 2) in step by (field; lra). exact step. }
  apply certificate_of_distance with (w := w) (v := v) (r := r) (d := d);
    try assumption; try lra.
  - unfold below in dbelow. destruct (Nat.eq_dec i 0); [left; assumption|right; lra].
  - right. unfold above in dabove. lra.
Qed.

(* The exception is real: on an inner boundary no enclosure that is not exact settles anything, with any bits. *)
Theorem boundaries_stay_open :
  forall n w lo hi v m k i j,
    positive n w -> encloses n w lo hi -> (0 < j < n)%nat -> v * sum n w = sum j w ->
    lo j < sum j w < hi j -> known m k v -> ~ certificate n lo hi m k i.
Proof.
  intros n w lo hi v m k i j pos enc between boundary [loj hij] [below above] [lt [after before]].
  pose proof (total_positive n w ltac:(lia) pos) as total.
  pose proof (power_positive k) as power.
  pose proof (pos_INR m) as m0.
  destruct (enc n (le_n n)) as [lon hin].
  destruct (Nat.lt_ge_cases i j) as [earlier|later].
  - destruct before as [last|before]; [lia|].
    assert (at_most : lo (S i) <= sum j w).
    { destruct (enc (S i) ltac:(lia)). pose proof (ends_increase n w (S i) j pos ltac:(lia)). lra. }
    assert (lo (S i) * 2 ^ k <= sum j w * 2 ^ k) by (apply Rmult_le_compat_r; lra).
    assert (2 ^ k * v * sum n w < (INR m + 1) * sum n w) by (apply Rmult_lt_compat_r; lra).
    assert ((INR m + 1) * sum n w <= (INR m + 1) * hi n) by (apply Rmult_le_compat_l; lra).
    assert (2 ^ k * v * sum n w = sum j w * 2 ^ k) by (rewrite <- boundary; ring).
    lra.
  - destruct after as [first|after]; [lia|].
    assert (at_least : sum j w < hi i).
    { destruct (Nat.eq_dec i j) as [same|other]; [subst; exact hij|].
      destruct (enc i ltac:(lia)).
      pose proof (ends_increase n w (S j) i pos ltac:(lia)) as inc. cbn [sum] in inc.
      pose proof (pos j ltac:(lia)). lra. }
    assert (sum j w * 2 ^ k < hi i * 2 ^ k) by (apply Rmult_lt_compat_r; lra).
    assert (INR m * lo n <= INR m * sum n w) by (apply Rmult_le_compat_l; lra).
    assert (INR m * sum n w <= 2 ^ k * v * sum n w) by (apply Rmult_le_compat_r; lra).
    assert (2 ^ k * v * sum n w = sum j w * 2 ^ k) by (rewrite <- boundary; ring).
    lra.
Qed.
